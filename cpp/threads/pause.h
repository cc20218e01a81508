// How a long call is ended while it runs.
#pragma once

#include <functional>

namespace oneiros {

// Called between the parts of a long call, with no lock held, from the thread that made the call.
// What it throws ends the call.
using Interrupt = std::function<void()>;

// While it lives, pause_here() of this thread calls `pause` (borrowed; may be empty), and not that
// of an earlier scope. Loops deep in a call are so reached without a word from all between.
class PauseScope {
 public:
  explicit PauseScope(const Interrupt& pause);
  ~PauseScope();
  PauseScope(const PauseScope&) = delete;
  PauseScope& operator=(const PauseScope&) = delete;

 private:
  const Interrupt* const outer_;
};

// To be called every few milliseconds by what may take long, with no lock held. May throw anything.
// Does nothing on a thread without a scope. Costs some 30 ns where the pause asks a clock.
void pause_here();

}  // namespace oneiros
