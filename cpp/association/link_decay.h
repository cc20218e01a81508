// Decay of a link's weight: association_decay of docs/systems/cognitive.md C16.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "association/link.h"
#include "ranking/formulas/cognitive.h"

namespace oneiros {

// The time of reading, and the rate of decay.
struct LinkClock {
  double now_seconds;
  double tau_days;  // > 0; infinite: no decay
};

// Throws std::invalid_argument naming the invalid field.
void require_valid(const LinkClock& clock);

inline constexpr double kSecondsPerLinkDay = 86'400.0;

// Clamps infinite differences of times, so that an infinite tau still gives the whole weight. NaN
// stays.
[[nodiscard]] inline double finite_days(double days) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(days, -kMost, kMost);
}

// The weight left at the clock's time; the weight itself for a link never retrieved (NaN).
[[nodiscard]] inline double decayed_weight(const HalfLink& link, const LinkClock& clock) {
  const double days = finite_days((clock.now_seconds - link.last_seconds) / kSecondsPerLinkDay);
  return formulas::AssociationDecay::value(&clock.tau_days, link.weight, days);
}

// The same for many links by the kernel's vectorised loops, with the same bits. REQUIRES: equal
// sizes. `last_seconds` is overwritten.
void decay_weights(std::span<double> weights, std::span<double> last_seconds,
                   const LinkClock& clock);

}  // namespace oneiros
