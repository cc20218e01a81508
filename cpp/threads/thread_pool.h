// Threads that help with loops.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "threads/chunked_loop.h"

namespace oneiros {

// Starts a thread when a loop first needs one, and keeps it. Waiting threads sleep; none spins. Any
// number of threads may call run() at once: each works on its own loop, pool threads help where
// there is room, and no caller waits for help that has not started.
class ThreadPool {
 public:
  // Starts no thread yet; never more than `most_workers`.
  explicit ThreadPool(std::size_t most_workers);
  // REQUIRES: no call of run() is in progress.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process, created on first use, with one thread per processor including the
  // caller. It is never destroyed: its threads sleep until the process ends, so the order in which
  // libraries and the interpreter are torn down does not matter. The child of a fork starts with a
  // new pool; the parent's is abandoned, because its threads do not exist and its mutex may be
  // locked.
  static ThreadPool& of_process();

  [[nodiscard]] std::size_t most_workers() const { return most_workers_; }

  // Runs `loop` on the calling thread and at most `helpers` pool threads, fewer if the system
  // provides no more. Returns when no thread uses the loop any more. `pause` is called only on the
  // calling thread, also while it waits. REQUIRES: not is_inside(); the loop's body does not fork.
  void run(ChunkedLoop& loop, std::size_t helpers, const std::function<void()>& pause);

  // True if the calling thread is in run() of any pool, as caller or helper.
  [[nodiscard]] static bool is_inside();

 private:
  struct Call;

  void start_missing();
  void serve();

  const std::size_t most_workers_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::vector<Call*> calls_;  // calls that want more helpers, oldest first
  std::size_t wanted_ = 0;    // helpers wanted by all calls
  std::size_t idle_count_ = 0;
  bool is_closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace oneiros
