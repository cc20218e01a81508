#include "threads/fork_hooks.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "threads/fork_safe_shared_mutex.h"

#ifndef _WIN32

#include <sys/wait.h>
#include <unistd.h>

namespace {

using oneiros::ForkHooks;
using oneiros::ForkSafeSharedMutex;

template <typename Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure
    _exit(body());
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("ForkHooks: called around a fork while they live") {
  std::mutex mutex;
  int before_count = 0;
  int child_count = 0;
  int parent_count = 0;
  const auto fork_once = [&] {
    return status_of_child([&] { return mutex.try_lock() ? child_count : 100; });
  };
  {
    const ForkHooks counting([&] { ++before_count; }, [&] { ++parent_count; },
                             [&] { ++child_count; });
    const ForkHooks locking([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                            [&] { mutex.unlock(); });
    {
      const ForkHooks gone([&] { ++before_count; }, [] {}, [] {});
    }
    // Amid a change by another thread, the child finds it whole and the mutex free.
    std::atomic<bool> is_done = false;
    const std::jthread busy([&] {
      while (!is_done.load()) {
        const std::scoped_lock lock(mutex);
      }
    });
    for (int round = 0; round < 10; ++round) {
      CHECK(fork_once() == 1);
    }
    is_done = true;
  }
  CHECK(before_count == 10);
  CHECK(parent_count == 10);
  CHECK(child_count == 0);
  CHECK(fork_once() == 0);
  CHECK(before_count == 10);
}

TEST_CASE("ForkSafeSharedMutex: free in a child, and what it guards whole") {
  ForkSafeSharedMutex mutex;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::atomic<bool> is_done = false;
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    while (!is_done.load()) {
      const std::unique_lock lock(mutex);
      ++left;
      ++right;
    }
  });
  threads.emplace_back([&] {
    while (!is_done.load()) {
      const std::shared_lock lock(mutex);
    }
  });
  for (int round = 0; round < 30; ++round) {
    CHECK(status_of_child([&] {
            const std::unique_lock lock(mutex);
            return left == right ? 0 : 1;
          }) == 0);
  }
  is_done = true;
  threads.clear();
  const std::unique_lock lock(mutex);
  CHECK(left == right);
}

#endif
