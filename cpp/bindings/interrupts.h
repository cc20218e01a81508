// Interruption of long calls by Ctrl-C.
#pragma once

#include "bindings/gil.h"
#include "threads/pause.h"

namespace oneiros {

// A callback that checks for signals. Acquires the GIL at most twenty times per second.
Interrupt interruptible();

// Releases the GIL for its lifetime; Ctrl-C ends the call at its next pause_here(). REQUIRES: the
// caller holds the GIL.
class LongCall {
 public:
  LongCall() : pause_(interruptible()), scope_(pause_) {}

 private:
  const ReleasedGil nogil_;
  const Interrupt pause_;
  const PauseScope scope_;
};

}  // namespace oneiros
