// Signal checks at a limited rate: the clock is read first, and the GIL only acquired when enough
// time has passed.
#include "bindings/interrupts.h"

#include <chrono>

namespace oneiros {

Interrupt interruptible() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPeriod = std::chrono::milliseconds(50);
  return [last = Clock::now(), kPeriod]() mutable {
    if (Clock::now() - last < kPeriod) {
      return;
    }
    const HeldGil gil;
    if (PyErr_CheckSignals() != 0) {
      throw pybind11::error_already_set();
    }
    last = Clock::now();
  };
}

}  // namespace oneiros
