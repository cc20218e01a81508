#include "threads/background_task.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX, not C++
#endif

namespace {

using oneiros::BackgroundTask;

void wait_for(const std::atomic<int>& value, int least) {
  while (value.load() < least) {
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("BackgroundTask: each start is followed by a beginning, on one thread at a time") {
  std::atomic<int> asked = 0;
  std::atomic<int> done = 0;
  std::atomic<int> inside = 0;
  std::atomic<int> crowd_count = 0;
  BackgroundTask task([&](const std::atomic<bool>&) {
    crowd_count += inside.fetch_add(1) == 0 ? 0 : 1;
    done.store(asked.load());
    inside.fetch_sub(1);
  });
  for (int round = 1; round <= 300; ++round) {
    asked = round;
    if (round % 3 == 0) {
      std::vector<std::jthread> starters;
      for (int i = 0; i < 3; ++i) {
        starters.emplace_back([&] { task.start(); });
      }
    }
    task.start();
    wait_for(done, round);
  }
  CHECK(crowd_count == 0);
}

TEST_CASE("BackgroundTask: its end cancels the work and waits for it") {
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  {
    BackgroundTask task([&](const std::atomic<bool>& is_cancelled) {
      ++begun;
      while (!is_cancelled.load()) {
        std::this_thread::yield();
      }
      ++ended;
    });
    task.start();
    wait_for(begun, 1);
  }
  CHECK(ended == begun);
  {
    const BackgroundTask idle([](const std::atomic<bool>&) {});
  }
}

#ifndef _WIN32

TEST_CASE("BackgroundTask: signals go to the threads of the application") {
  std::atomic<int> is_blocked = -1;
  {
    BackgroundTask task([&](const std::atomic<bool>&) {
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      is_blocked = sigismember(&blocked, SIGINT);
    });
    task.start();
    wait_for(is_blocked, 0);
  }
  CHECK(is_blocked == 1);
}

#endif
