// A pool whose callers always work themselves: a loop finishes even if no pool thread is free or
// can be started, so nested and concurrent use cannot deadlock. Calls that want helpers form a
// queue; an idle thread joins the oldest. A caller leaves its call only after the last helper has
// left it.
#include "threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <exception>
#include <memory>

#include "threads/blocked_signals.h"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace oneiros {

namespace {

thread_local bool t_is_inside = false;

std::atomic<ThreadPool*> process_pool = nullptr;

// How often a thread that waits for helpers calls `pause`.
constexpr auto kPausePeriod = std::chrono::milliseconds(50);

#ifndef _WIN32

// Registered when the library is loaded, before a fork can happen with a pool. Without it no thread
// may be started: a child would wait for one forever.
const bool forks_are_safe =
    pthread_atfork(nullptr, nullptr, [] { process_pool.store(nullptr); }) == 0;

#else

const bool forks_are_safe = true;

#endif

// The number of pool threads: one per processor, minus the caller.
std::size_t processors_but_one() {
  return forks_are_safe ? std::max(std::thread::hardware_concurrency(), 1U) - 1 : 0;
}

}  // namespace

// A run() in progress, on its caller's stack. Guarded by the pool's mutex.
struct ThreadPool::Call {
  ChunkedLoop* loop;
  std::size_t wanted;  // helpers that may still join
  std::size_t helping = 0;
  std::condition_variable left;
};

ThreadPool::ThreadPool(std::size_t most_workers) : most_workers_(most_workers) {}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    assert(calls_.empty());
    is_closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

ThreadPool& ThreadPool::of_process() {
  // No lock or static local: a fork could leave either locked.
  ThreadPool* pool = process_pool.load();
  if (pool == nullptr) {
    auto made = std::make_unique<ThreadPool>(processors_but_one());
    if (process_pool.compare_exchange_strong(pool, made.get())) {
      pool = made.release();
    }
  }
  return *pool;
}

bool ThreadPool::is_inside() { return t_is_inside; }

// The calling thread works until no chunk is left, then waits for the helpers that have joined. The
// call is removed from the queue first, so that none joins any more.
void ThreadPool::run(ChunkedLoop& loop, std::size_t helpers, const std::function<void()>& pause) {
  assert(!is_inside());
  Call call{.loop = &loop, .wanted = std::min(helpers, most_workers_), .left = {}};
  const std::size_t wanted = call.wanted;
  if (wanted > 0) {
    const std::scoped_lock lock(mutex_);
    calls_.push_back(&call);
    wanted_ += wanted;
    start_missing();
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    wake_.notify_one();
  }
  t_is_inside = true;
  loop.work(pause);
  t_is_inside = false;
  std::unique_lock lock(mutex_);
  std::erase(calls_, &call);
  wanted_ -= call.wanted;
  while (!call.left.wait_for(lock, kPausePeriod, [&] { return call.helping == 0; })) {
    lock.unlock();
    loop.wait(pause);
    lock.lock();
  }
}

// Starts threads for the helpers wanted, up to the limit, with all signals blocked.
void ThreadPool::start_missing() {
  const std::size_t needed = wanted_ - std::min(wanted_, idle_count_);
  const std::size_t missing = std::min(needed, most_workers_ - workers_.size());
  if (missing == 0) {
    return;
  }
  const BlockedSignals blocked;
  try {
    for (std::size_t i = 0; i < missing; ++i) {
      workers_.emplace_back([this] { serve(); });
    }
  } catch (const std::exception&) {
    return;  // no more threads or memory: the existing threads and the callers do the work
  }
}

// The loop of a pool thread: joins the oldest call that wants a helper, or sleeps.
void ThreadPool::serve() {
  t_is_inside = true;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_count_;
    wake_.wait(lock, [this] { return is_closing_ || !calls_.empty(); });
    --idle_count_;
    if (is_closing_) {
      return;
    }
    Call& call = *calls_.front();
    ++call.helping;
    --wanted_;
    if (--call.wanted == 0) {
      calls_.erase(calls_.begin());
    }
    lock.unlock();
    call.loop->work({});
    lock.lock();
    if (--call.helping == 0) {
      call.left.notify_one();  // under the lock: after it, the call may be gone
    }
  }
}

}  // namespace oneiros
