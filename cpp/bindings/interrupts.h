// Ctrl-C in long calls.
#pragma once

#include "bindings/gil.h"
#include "threads/pause.h"

namespace oneiros {

// Lets Ctrl-C end a long call. Takes the GIL twenty times a second at most.
Interrupt interruptible();

// While it lives, other threads may run Python, and Ctrl-C ends the call at its next pause_here().
// REQUIRES: the caller holds the GIL.
class LongCall {
 public:
  LongCall() : pause_(interruptible()), scope_(pause_) {}

 private:
  const ReleasedGil nogil_;
  const Interrupt pause_;
  const PauseScope scope_;
};

}  // namespace oneiros
