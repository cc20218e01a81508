// Work that is done beside everything else.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

namespace oneiros {

// At most one thread does the work; there is none while there is nothing to do. Thread-safe.
class BackgroundTask {
 public:
  // Does all there is to do, and returns soon once `is_cancelled` is set. Throws nothing.
  using Work = std::function<void(const std::atomic<bool>& is_cancelled)>;

  explicit BackgroundTask(Work work);
  // Cancels the work and waits for its end. REQUIRES: nobody calls start() any more.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Sees to it that the work begins, once more if it is under way. Does nothing where the system
  // gives no thread.
  void start();

  // For the child of a fork: the thread, if there was one, does not live there.
  void forget_thread() noexcept;

 private:
  struct State;

  const std::shared_ptr<State> state_;  // the thread's too, which may be the last to touch it
};

}  // namespace oneiros
