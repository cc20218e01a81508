// The interrupt of the innermost scope, in a thread-local pointer.
#include "threads/pause.h"

namespace oneiros {

namespace {

thread_local const Interrupt* t_pause = nullptr;

}  // namespace

PauseScope::PauseScope(const Interrupt& pause) : outer_(t_pause) { t_pause = &pause; }

PauseScope::~PauseScope() { t_pause = outer_; }

void pause_here() {
  if (t_pause != nullptr && *t_pause) {
    (*t_pause)();
  }
}

}  // namespace oneiros
