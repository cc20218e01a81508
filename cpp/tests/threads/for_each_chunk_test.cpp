#include "threads/for_each_chunk.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "threads/thread_pool.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using oneiros::ChunkedLoop;
using oneiros::for_each_chunk;
using oneiros::ThreadPool;

std::size_t sum_below(std::size_t count, std::size_t threads) {
  std::atomic<std::size_t> sum = 0;
  for_each_chunk(count, threads, 3, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      sum += i;
    }
  });
  return sum;
}

// As for_each_chunk(), with more threads than this machine may have processors.
bool run_on(ThreadPool& pool, std::size_t count, std::size_t grain, const oneiros::ChunkBody& body,
            const std::atomic<bool>* is_cancelled = nullptr) {
  ChunkedLoop loop(count, grain, body, is_cancelled);
  pool.run(loop, pool.most_workers(), {});
  return loop.finish();
}

}  // namespace

TEST_CASE("for_each_chunk: covers every index once, cut at the same places by any thread count") {
  ThreadPool pool(5);
  for (const std::size_t count : {0U, 1U, 7U, 1000U, 4096U}) {
    for (const std::size_t grain : {1U, 7U, 1000U, 5000U}) {
      std::vector<int> seen(count);
      const auto body = [&](std::size_t begin, std::size_t end) {
        REQUIRE(begin % grain == 0);
        REQUIRE((end == count || end - begin == grain));
        for (std::size_t i = begin; i < end; ++i) {
          ++seen[i];
        }
      };
      int runs = 0;
      for (const std::size_t threads : {1U, 2U, 9U}) {
        CHECK(for_each_chunk(count, threads, grain, body));
        ++runs;
      }
      CHECK(run_on(pool, count, grain, body));
      CHECK(seen == std::vector<int>(count, runs + 1));
    }
  }
}

TEST_CASE("for_each_chunk: one thread, one chunk and a nested loop stay with their thread") {
  const auto here = std::this_thread::get_id();
  const auto check_here = [&](std::size_t, std::size_t) {
    REQUIRE(std::this_thread::get_id() == here);
  };
  for_each_chunk(1000, 1, 1, check_here);
  for_each_chunk(1000, 8, 1000, check_here);
  ThreadPool pool(3);
  std::atomic<int> inner = 0;
  run_on(pool, 64, 1, [&](std::size_t, std::size_t) {
    const auto outer = std::this_thread::get_id();
    REQUIRE(ThreadPool::is_inside());
    for_each_chunk(10, 8, 1, [&](std::size_t, std::size_t) {
      REQUIRE(std::this_thread::get_id() == outer);
      ++inner;
    });
  });
  CHECK(inner == 640);
  CHECK(!ThreadPool::is_inside());
}

TEST_CASE("ThreadPool: helpers do help, and no more of them than it may have") {
  ThreadPool pool(3);
  std::mutex mutex;
  std::condition_variable all_here;
  std::set<std::thread::id> seen;
  run_on(pool, 4, 1, [&](std::size_t, std::size_t) {
    std::unique_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    all_here.notify_all();
    all_here.wait(lock, [&] { return seen.size() == 4; });  // would hang with one fewer
  });
  run_on(pool, 1000, 1, [&](std::size_t, std::size_t) {
    const std::scoped_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() == 4);
}

TEST_CASE("ThreadPool: the error is that of the first chunk that fails, on whatever thread") {
  ThreadPool pool(5);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> begun = 0;
    std::atomic<int> running = 0;
    const auto body = [&](std::size_t begin, std::size_t) {
      ++begun;
      ++running;
      const bool is_bad = begin >= 37;
      --running;
      if (is_bad) {
        throw std::runtime_error(std::to_string(begin));
      }
    };
    CHECK_THROWS_WITH(run_on(pool, 100'000, 1, body), "37");
    CHECK(running == 0);
    CHECK(begun < 100'000);
    CHECK_THROWS_WITH(for_each_chunk(1000, 4, 1, body), "37");
    CHECK_THROWS_WITH(for_each_chunk(1000, 1, 1, body), "37");
  }
}

TEST_CASE("for_each_chunk: the calling thread pauses after each chunk of its own") {
  const auto here = std::this_thread::get_id();
  for (const std::size_t threads : {1U, 4U}) {
    std::atomic<int> own = 0;
    int pauses = 0;
    const auto count_own = [&](std::size_t, std::size_t) {
      own += static_cast<int>(std::this_thread::get_id() == here);
    };
    const auto pause = [&] {
      REQUIRE(std::this_thread::get_id() == here);
      ++pauses;
    };
    for_each_chunk(100, threads, 1, count_own, {.pause = pause});
    CHECK(pauses >= own);
    const auto refuse = [] { throw std::runtime_error("pause"); };
    const auto slow = [](std::size_t, std::size_t) { std::this_thread::yield(); };
    CHECK_THROWS_WITH(for_each_chunk(10'000, threads, 1, slow, {.pause = refuse}), "pause");
  }
}

TEST_CASE("for_each_chunk: the calling thread pauses while it waits for the others") {
  ThreadPool pool(1);
  const auto here = std::this_thread::get_id();
  std::atomic<int> begun = 0;
  std::atomic<bool> is_ended = false;
  int own_pauses = 0;
  const auto body = [&](std::size_t, std::size_t) {
    ++begun;
    while (begun < 2) {  // one chunk for either thread
      std::this_thread::yield();
    }
    while (std::this_thread::get_id() != here && !is_ended) {
      std::this_thread::yield();
    }
  };
  const auto pause = [&] {
    if (++own_pauses == 3) {  // the first is that of the own chunk
      is_ended = true;
      throw std::runtime_error("pause");
    }
  };
  const oneiros::ChunkBody chunk = body;
  ChunkedLoop loop(2, 1, chunk, nullptr);
  pool.run(loop, 1, pause);
  CHECK_THROWS_WITH(loop.finish(), "pause");
  CHECK(own_pauses >= 3);  // more, where the other thread is late to notice
}

TEST_CASE("for_each_chunk: a cancelled loop begins no further chunk and says so") {
  ThreadPool pool(5);
  const std::atomic<bool> is_cancelled_before = true;
  const auto never = [](std::size_t, std::size_t) { FAIL("ran"); };
  CHECK(!run_on(pool, 10, 1, never, &is_cancelled_before));
  CHECK(!for_each_chunk(10, 4, 1, never, {.is_cancelled = &is_cancelled_before}));
  std::atomic<bool> is_cancelled = false;
  std::atomic<int> runs = 0;
  const auto body = [&](std::size_t, std::size_t) { is_cancelled = ++runs >= 10; };
  CHECK(!run_on(pool, 100'000, 1, body, &is_cancelled));
  CHECK(runs < 100'000);
  const std::atomic<bool> is_not = false;
  CHECK(run_on(
      pool, 10, 1, [](std::size_t, std::size_t) {}, &is_not));
}

TEST_CASE("ThreadPool: many callers at once, each with its own loop") {
  ThreadPool pool(3);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < 6; ++caller) {
      callers.emplace_back([&, caller] {
        for (std::size_t round = 0; round < 200; ++round) {
          const std::size_t count = 1 + (caller * 31 + round) % 64;
          std::vector<std::size_t> squares(count);
          run_on(pool, count, 4, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              squares[i] = i * i;
            }
          });
          for (std::size_t i = 0; i < count; ++i) {
            wrong += static_cast<int>(squares[i] != i * i);
          }
          wrong += static_cast<int>(sum_below(count, 4) != count * (count - 1) / 2);
        }
      });
    }
  }
  CHECK(wrong == 0);
}

#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)  // TSan lets no such child start a thread

TEST_CASE("ThreadPool: a child of a fork has threads of its own, even amid loops of others") {
  const std::jthread busy([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      sum_below(100, 4);
    }
  });
  for (int round = 0; round < 20; ++round) {
    CHECK(sum_below(100, 4) == 4950);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a hang is a failure
      _exit(sum_below(1000, 4) == 499'500 && sum_below(10, 2) == 45 ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

#endif
