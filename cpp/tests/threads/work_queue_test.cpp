#include "threads/work_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "threads/pause.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using oneiros::WorkQueue;

// Work that occupies a place until release() is called.
class HeldPlace {
 public:
  explicit HeldPlace(WorkQueue& queue)
      : thread_([this, &queue] {
          queue.run([this] {
            is_held_.store(true);
            is_held_.notify_all();
            is_released_.wait(false);
          });
        }) {
    is_held_.wait(false);
  }
  void release() {
    is_released_.store(true);
    is_released_.notify_all();
  }
  ~HeldPlace() { release(); }

 private:
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_released_ = false;
  std::jthread thread_;
};

TEST_CASE("WorkQueue: as much work runs at once as there are places, and all of it once") {
  WorkQueue queue(3);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> count = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 500; ++turn) {
          int own = 0;
          queue.run([&] {
            const int now = ++running;
            int seen = most.load();
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            std::this_thread::yield();
            ++own;
            ++count;
            --running;
          });
          if (own != 1) {
            count = -1'000'000;
          }
        }
      });
    }
  }
  CHECK(count.load() == 4'000);
  CHECK(running.load() == 0);
  CHECK(most.load() <= 3);
}

TEST_CASE("WorkQueue: with a free place, work runs on the calling thread") {
  WorkQueue queue(2);
  const HeldPlace held(queue);
  std::thread::id thread;
  queue.run([&] { thread = std::this_thread::get_id(); });
  CHECK(thread == std::this_thread::get_id());
}

TEST_CASE("WorkQueue: work that waits runs in the order of arrival") {
  constexpr int kCount = 6;
  WorkQueue queue(1);
  std::vector<int> order;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    HeldPlace held(queue);
    std::atomic<int> arrived = 0;
    for (int i = 0; i < kCount; ++i) {
      threads.emplace_back([&, i] {
        // Work that arrives is visible only by its first wait, which calls pause_here().
        const oneiros::Interrupt note = [&arrived, i] {
          if (arrived.load() == i) {
            ++arrived;
            arrived.notify_all();
          }
        };
        const oneiros::PauseScope scope(note);
        queue.run([&, i] {
          const std::scoped_lock lock(mutex);
          order.push_back(i);
        });
      });
      while (arrived.load() <= i) {
        arrived.wait(i);
      }
    }
    held.release();
  }
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("WorkQueue: an exception reaches the caller, of work that waited too") {
  WorkQueue queue(1);
  const auto fail = [] { throw std::runtime_error("failed"); };
  CHECK_THROWS_WITH(queue.run(fail), "failed");
  std::jthread waiting;
  {
    HeldPlace held(queue);
    std::atomic<bool> has_waited = false;
    waiting = std::jthread([&] {
      const oneiros::Interrupt note = [&has_waited] {
        has_waited.store(true);
        has_waited.notify_all();
      };
      const oneiros::PauseScope scope(note);
      CHECK_THROWS_WITH(queue.run(fail), "failed");
    });
    has_waited.wait(false);
    held.release();
    waiting.join();
  }
  bool has_run = false;
  queue.run([&] { has_run = true; });
  CHECK(has_run);
}

TEST_CASE("WorkQueue: a caller that waits can be interrupted, and its work is left out") {
  WorkQueue queue(1);
  std::atomic<bool> has_run = false;
  {
    const HeldPlace held(queue);
    std::jthread([&] {
      const oneiros::Interrupt stop = [] { throw std::runtime_error("interrupted"); };
      const oneiros::PauseScope scope(stop);
      CHECK_THROWS_WITH(queue.run([&] { has_run = true; }), "interrupted");
    }).join();
  }
  queue.run([] {});
  CHECK_FALSE(has_run.load());
}

TEST_CASE("WorkQueue: work that runs ends at its next pause when its caller is interrupted") {
  WorkQueue queue(1);
  std::atomic<bool> has_waited = false;
  std::atomic<bool> is_running = false;
  bool has_ended = false;
  HeldPlace held(queue);
  std::jthread caller([&] {
    const oneiros::Interrupt stop = [&] {
      has_waited.store(true);
      has_waited.notify_all();
      if (is_running.load()) {
        throw std::runtime_error("interrupted");
      }
    };
    const oneiros::PauseScope scope(stop);
    CHECK_THROWS_WITH(queue.run([&] {
      is_running.store(true);
      while (true) {
        oneiros::pause_here();  // ends the loop
        std::this_thread::yield();
      }
    }),
                      "interrupted");
    has_ended = true;
  });
  has_waited.wait(false);  // the work waits
  held.release();
  caller.join();
  CHECK(has_ended);
}

TEST_CASE("WorkQueue: work inside of work runs at once") {
  WorkQueue queue(1);
  int depth = 0;
  queue.run([&] { queue.run([&] { ++depth; }); });
  CHECK(depth == 1);
}

// Under ThreadSanitizer a child of a process with threads may not start any, and hangs.
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)

TEST_CASE("WorkQueue: a child does not wait for the work of its parent") {
  const unsigned count = std::max(std::thread::hardware_concurrency(), 1U);
  std::deque<HeldPlace> held;
  for (unsigned i = 0; i < count; ++i) {
    held.emplace_back(WorkQueue::of_process());
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure
    bool has_run = false;
    WorkQueue::of_process().run([&] { has_run = true; });
    _exit(has_run ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#endif

}  // namespace
