#include "threads/concurrency_limit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "threads/pause.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using oneiros::ConcurrencyLimit;

TEST_CASE("ConcurrencyLimit: never more threads inside than allowed, and each gets in") {
  ConcurrencyLimit limit(3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> entries = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 500; ++turn) {
          const ConcurrencyLimit::Entry entry(limit);
          const int now = ++inside;
          int seen = most.load();
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          ++entries;
          std::this_thread::yield();
          --inside;
        }
      });
    }
  }
  CHECK(entries.load() == 4'000);
  CHECK(inside.load() == 0);
  CHECK(most.load() <= 3);
}

TEST_CASE("ConcurrencyLimit: a thread that waits can be interrupted and takes no place") {
  ConcurrencyLimit limit(1);
  {
    const ConcurrencyLimit::Entry entry(limit);
    std::jthread([&] {
      const oneiros::Interrupt stop = [] { throw std::runtime_error("interrupted"); };
      const oneiros::PauseScope scope(stop);
      CHECK_THROWS_WITH(ConcurrencyLimit::Entry{limit}, "interrupted");
    }).join();
  }
  const ConcurrencyLimit::Entry entry(limit);  // free again
}

TEST_CASE("ConcurrencyLimit: a place that an exception leaves is free") {
  ConcurrencyLimit limit(1);
  const auto fail = [&] {
    const ConcurrencyLimit::Entry entry(limit);
    throw std::runtime_error("failed");
  };
  CHECK_THROWS_WITH(fail(), "failed");
  const ConcurrencyLimit::Entry entry(limit);
}

// Under ThreadSanitizer a child of a process with threads may not start any, and hangs.
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)

TEST_CASE("ConcurrencyLimit: a child does not wait for threads that were inside") {
  std::atomic<bool> is_done = false;
  std::atomic<unsigned> inside = 0;
  const unsigned count = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      const ConcurrencyLimit::Entry entry(ConcurrencyLimit::of_process());
      ++inside;
      inside.notify_all();
      is_done.wait(false);
    });
  }
  for (unsigned now = inside.load(); now < count; now = inside.load()) {
    inside.wait(now);
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure
    { const ConcurrencyLimit::Entry entry(ConcurrencyLimit::of_process()); }
    _exit(0);
  }
  is_done.store(true);
  is_done.notify_all();
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#endif

}  // namespace
