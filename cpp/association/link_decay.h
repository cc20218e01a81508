// What is left of a link's weight: association_decay of docs/systems/cognitive.md C16.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "association/link.h"
#include "ranking/formulas/cognitive.h"

namespace oneiros {

// When a link is looked at, and how links fade.
struct LinkClock {
  double now_seconds;
  double tau_days;  // > 0; endless: links keep their weight
};

// Throws std::invalid_argument naming the one that breaks its rule.
void require_valid(const LinkClock& clock);

inline constexpr double kSecondsPerLinkDay = 86'400.0;

// Of times that lie endlessly far apart in a double: an endless tau leaves links their weight then,
// too. NaN stays.
[[nodiscard]] inline double finite_days(double days) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(days, -kMost, kMost);
}

[[nodiscard]] inline double decayed_weight(const HalfLink& link, const LinkClock& clock) {
  const double days = finite_days((clock.now_seconds - link.last_seconds) / kSecondsPerLinkDay);
  return formulas::AssociationDecay::value(&clock.tau_days, link.weight, days);
}

// The same of many, by the kernel's own loops: the same bits.
// REQUIRES: as many of each. `last_seconds` is overwritten.
void decay_weights(std::span<double> weights, std::span<double> last_seconds,
                   const LinkClock& clock);

}  // namespace oneiros
