// A counter under a mutex: uncontended, entering and leaving cost some 40 ns.
// std::counting_semaphore would do, but in some versions of libstdc++ a waiter can sleep forever.
#include "threads/concurrency_limit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "threads/pause.h"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace oneiros {

namespace {

// How often a thread that waits calls pause_here().
constexpr auto kPausePeriod = std::chrono::milliseconds(50);

std::atomic<ConcurrencyLimit*> process_limit = nullptr;

#ifndef _WIN32
// Registered when the library is loaded. Without it nothing is limited: a child would count threads
// that it does not have.
const bool forks_are_safe =
    pthread_atfork(nullptr, nullptr, [] { process_limit.store(nullptr); }) == 0;
#else
const bool forks_are_safe = true;
#endif

std::size_t processor_count() {
  return forks_are_safe ? std::max(std::thread::hardware_concurrency(), 1U)
                        : std::numeric_limits<std::size_t>::max();
}

}  // namespace

ConcurrencyLimit& ConcurrencyLimit::of_process() {
  // No lock or static local: a fork could leave either locked.
  ConcurrencyLimit* limit = process_limit.load();
  if (limit == nullptr) {
    auto made = std::make_unique<ConcurrencyLimit>(processor_count());
    if (process_limit.compare_exchange_strong(limit, made.get())) {
      limit = made.release();
    }
  }
  return *limit;
}

void ConcurrencyLimit::enter() {
  std::unique_lock lock(mutex_);
  while (inside_ == most_) {
    if (has_left_.wait_for(lock, kPausePeriod) == std::cv_status::timeout) {
      lock.unlock();
      pause_here();
      lock.lock();
    }
  }
  ++inside_;
}

void ConcurrencyLimit::leave() {
  {
    const std::scoped_lock lock(mutex_);
    --inside_;
  }
  has_left_.notify_one();
}

}  // namespace oneiros
