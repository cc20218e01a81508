// A queue under one mutex. A caller with a free place and none before it pays for two uncontended
// locks, some 40 ns. One that waits costs two switches of threads, about 10 us of a processor.
#include "threads/work_queue.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>

#include "threads/blocked_signals.h"
#include "threads/pause.h"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace oneiros {

namespace {

// How often a thread that waits calls pause_here().
constexpr auto kPausePeriod = std::chrono::milliseconds(50);

// How long a worker without work keeps its place.
constexpr auto kStay = std::chrono::microseconds(100);

thread_local bool t_is_inside = false;

std::atomic<WorkQueue*> process_queue = nullptr;

#ifndef _WIN32
// Registered when the library is loaded. Without it there are places for all: a child would wait
// for workers that it does not have.
const bool forks_are_safe =
    pthread_atfork(nullptr, nullptr, [] { process_queue.store(nullptr); }) == 0;
#else
const bool forks_are_safe = true;
#endif

std::size_t processor_count() {
  return forks_are_safe ? std::max(std::thread::hardware_concurrency(), 1U)
                        : std::numeric_limits<std::size_t>::max();
}

// Ends work whose caller does not wait for its result any more.
class Abandoned {};

// Marks the calling thread as inside of work.
class Inside {
 public:
  Inside() { t_is_inside = true; }
  ~Inside() { t_is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace

// Work that waits or runs, on its caller's stack. Guarded by the queue's mutex, but for `work`.
struct WorkQueue::Job {
  const Work& work;
  std::condition_variable done_or_failed = {};
  bool is_done = false;
  std::atomic<bool> is_abandoned = false;
  std::exception_ptr error = {};
};

class WorkQueue::Place {
 public:
  // REQUIRES: the mutex is locked, and a place is free.
  explicit Place(WorkQueue& queue) : queue_(queue) { ++queue_.busy_; }
  ~Place() {
    bool is_wanted = false;
    {
      const std::scoped_lock lock(queue_.mutex_);
      --queue_.busy_;
      is_wanted = !queue_.waiting_.empty();
    }
    if (is_wanted) {
      queue_.wake_.notify_one();
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  WorkQueue& queue_;
};

WorkQueue::~WorkQueue() {
  {
    const std::scoped_lock lock(mutex_);
    assert(waiting_.empty());
    is_closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

WorkQueue& WorkQueue::of_process() {
  // No lock or static local: a fork could leave either locked.
  WorkQueue* queue = process_queue.load();
  if (queue == nullptr) {
    auto made = std::make_unique<WorkQueue>(processor_count());
    if (process_queue.compare_exchange_strong(queue, made.get())) {
      queue = made.release();
    }
  }
  return *queue;
}

void WorkQueue::run(const Work& work) {
  if (t_is_inside) {
    work();
    return;
  }
  std::unique_lock lock(mutex_);
  if ((waiting_.empty() && has_free_place()) || !start_missing()) {
    const Place place(*this);
    lock.unlock();
    const Inside inside;
    work();
    return;
  }
  Job job{.work = work};
  waiting_.push_back(&job);
  if (has_free_place()) {
    wake_.notify_one();
  }
  while (!job.is_done) {
    if (job.done_or_failed.wait_for(lock, kPausePeriod) == std::cv_status::no_timeout) {
      continue;
    }
    lock.unlock();
    std::exception_ptr interrupt;
    try {
      pause_here();
    } catch (...) {
      interrupt = std::current_exception();
    }
    lock.lock();
    if (interrupt != nullptr) {
      if (std::erase(waiting_, &job) == 0) {
        job.is_abandoned.store(true);
        job.done_or_failed.wait(lock, [&] { return job.is_done; });
      }
      std::rethrow_exception(interrupt);
    }
  }
  if (job.error != nullptr) {
    std::rethrow_exception(job.error);
  }
}

// One more worker for each job that waits, until there is one per place.
bool WorkQueue::start_missing() {
  if (workers_.size() < most_places_) {
    const BlockedSignals blocked;
    try {
      workers_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {
      return !workers_.empty();  // no more threads or memory
    }
  }
  return true;
}

// The loop of a worker: takes a place while there is work, or sleeps.
void WorkQueue::serve() {
  const Inside inside;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_closing_ || (!waiting_.empty() && has_free_place()); });
    if (is_closing_) {
      return;
    }
    ++busy_;
    while (awaits_work(lock)) {
      Job& job = *waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      finish(job);
      // The caller's turn on this processor. It goes on with what is still in the caches, and if it
      // got Python's lock and had to wait for its turn, so would all others.
      std::this_thread::yield();
      lock.lock();
    }
    --busy_;
  }
}

// Stays awake for a while: to be woken takes longer than much of the work.
bool WorkQueue::awaits_work(std::unique_lock<std::mutex>& lock) const {
  const auto end = std::chrono::steady_clock::now() + kStay;
  while (waiting_.empty() && !is_closing_ && std::chrono::steady_clock::now() < end) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  return !waiting_.empty();
}

void WorkQueue::finish(Job& job) {
  std::exception_ptr error;
  try {
    const Interrupt stop = [&job] {
      if (job.is_abandoned.load(std::memory_order_relaxed)) {
        throw Abandoned();
      }
    };
    const PauseScope scope(stop);
    job.work();
  } catch (...) {
    error = std::current_exception();
  }
  const std::scoped_lock lock(mutex_);
  job.error = std::move(error);
  job.is_done = true;
  job.done_or_failed.notify_one();  // under the lock: after it, the job may be gone
}

}  // namespace oneiros
