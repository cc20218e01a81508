// The order that the links of a row stand in: by what is left of them, the most first.
//
// At a time T after its last co-retrieval at t, a link has w exp(-(T - t) / tau) left, which is
// exp(standing - T / tau) with standing = ln(w) + t / tau. So the order is the same at every T, and
// whoever looks for links with some weight left is done at the first that has less. It is a bound,
// rounded away from where it would cut: it decides what is read, never what is found. A link
// without a last co-retrieval stands before all others, and one from after T has less left than its
// standing says.
#pragma once

#include "association/link.h"
#include "association/link_decay.h"

namespace oneiros {

// The order is one of links that fade so fast (C16 as published). Where they fade at another rate
// it says nothing, and every link is looked at.
inline constexpr double kOrderTauDays = 90.0;

// The standing of a link. REQUIRES: weight > 0.
[[nodiscard]] float standing_of(double weight, double last_seconds);

// No link that has at least `least_weight` left stands below it.
[[nodiscard]] float least_standing(double least_weight, const LinkClock& clock);

[[nodiscard]] inline bool stands_before(const HalfLink& a, const HalfLink& b) {
  return a.standing > b.standing;
}

}  // namespace oneiros
