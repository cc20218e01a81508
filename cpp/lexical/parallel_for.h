// A loop over several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace oneiros::lexical {

// Calls body(i) once for each i below `count`, on the calling thread and at most thread_count - 1
// others (63 if more are asked for), in no set order. After each of its own, the calling thread
// calls `pause`, if there is one. The first exception of any of them ends the loop and is thrown.
// REQUIRES: thread_count >= 1; body may run on many threads.
template <typename Body>
void parallel_for(std::size_t count, std::size_t thread_count, const std::function<void()>& pause,
                  const Body& body) {
  constexpr std::size_t kMostThreads = 64;
  std::atomic<std::size_t> next = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&](const std::function<void()>& after_each) noexcept {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        body(i);
        if (after_each) {
          after_each();
        }
      }
    } catch (...) {
      next = count;  // the others stop after what they have begun
      const std::scoped_lock lock(failure_mutex);
      if (!failure) {
        failure = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;  // joined at the end of the block
    threads.reserve(kMostThreads);
    std::size_t wanted = std::min({thread_count, count, kMostThreads});
    while (threads.size() + 1 < wanted) {
      try {
        threads.emplace_back([&] { work({}); });
      } catch (const std::system_error&) {
        wanted = 1;  // the system gives no more: those that run do it all
      }
    }
    work(pause);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace oneiros::lexical
