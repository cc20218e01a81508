// Threads that wait to help with loops.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "threads/chunked_loop.h"

namespace oneiros {

// Starts a thread when a loop first asks for one, and keeps it. Whoever waits, sleeps; nobody
// spins. Any number of threads may call run() at once: each works on its own loop, the pool's
// threads help where there is room, and no caller waits for help that has not begun.
class ThreadPool {
 public:
  // Starts none yet; never more than `most_workers`.
  explicit ThreadPool(std::size_t most_workers);
  // REQUIRES: no call of run() is under way.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool that all of the process shares, made at its first use: one thread a processor, the
  // caller counted. It is never destroyed: its threads sleep until the process ends, whatever the
  // order in which libraries and the interpreter are taken down. A child of a fork starts with a
  // new one; the parent's, whose threads and perhaps locked mutex do not live there, is left
  // behind.
  static ThreadPool& of_process();

  [[nodiscard]] std::size_t most_workers() const { return most_workers_; }

  // Runs all of `loop` on the calling thread and at most `helpers` of the pool's, fewer if the
  // system gives no more. Returns when no thread touches the loop any more. Only the calling thread
  // calls `pause`, also while it waits for the others. REQUIRES: not is_inside(); the loop's body
  // does not fork.
  void run(ChunkedLoop& loop, std::size_t helpers, const std::function<void()>& pause);

  // Whether the calling thread is in run() of any pool, as caller or helper.
  [[nodiscard]] static bool is_inside();

 private:
  struct Call;

  void start_missing();
  void serve();

  const std::size_t most_workers_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::vector<Call*> calls_;  // those that want more helpers, oldest first
  std::size_t wanted_ = 0;    // helpers, of all of them
  std::size_t idle_count_ = 0;
  bool is_closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace oneiros
