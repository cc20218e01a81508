// A task that runs in the background on demand.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

namespace oneiros {

// At most one thread runs the task; there is no thread while there is nothing to do. Thread-safe.
class BackgroundTask {
 public:
  // Does all there is to do, and returns soon once `is_cancelled` is set. Throws nothing.
  using Work = std::function<void(const std::atomic<bool>& is_cancelled)>;

  explicit BackgroundTask(Work work);
  // Cancels the work and waits for it to end. REQUIRES: no concurrent or later call of start().
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Ensures that the work starts, and starts again if it is running now. Has no effect if the
  // system cannot create a thread.
  void start();

  // For the child of a fork, in which the thread does not exist.
  void forget_thread() noexcept;

 private:
  struct State;

  const std::shared_ptr<State> state_;  // shared with the thread, which may be the last owner
};

}  // namespace oneiros
