// Interruption of long calls.
#pragma once

#include <functional>

namespace oneiros {

// Called between the parts of a long call, on the calling thread, with no lock held. An exception
// ends the call.
using Interrupt = std::function<void()>;

// While it exists, pause_here() on this thread calls `pause` (referenced; may be empty) instead of
// that of an outer scope. Deeply nested loops are thus interruptible without passing a parameter.
class PauseScope {
 public:
  explicit PauseScope(const Interrupt& pause);
  ~PauseScope();
  PauseScope(const PauseScope&) = delete;
  PauseScope& operator=(const PauseScope&) = delete;

 private:
  const Interrupt* const outer_;
};

// Long-running code calls this every few milliseconds, with no lock held. May throw anything.
// Without a scope on this thread it does nothing. About 30 ns if the callback reads a clock.
void pause_here();

}  // namespace oneiros
