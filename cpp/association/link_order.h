// The order that the links of a row stand in: by what is left of them, the most first.
//
// At a time T after its last co-retrieval at t, a link has w exp(-(T - t) / tau) left, which is
// exp(standing - T / tau) with standing = ln(w) + t / tau. So the order is the same at every T, and
// whoever looks for links with some weight left is done at the first that has less. It is a bound,
// rounded away from where it would cut: it decides what is read, never what is found. One from
// after T has less left than its standing says. Links without a last co-retrieval stand before all
// others, by weight.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "association/link.h"
#include "association/link_decay.h"
#include "simd/real.h"

namespace oneiros {

// The order is one of links that fade so fast (C16 as published). Where they fade at another rate
// it says nothing, and every link is looked at.
inline constexpr double kOrderTauDays = 90.0;

// The standing of a link. REQUIRES: weight > 0.
[[nodiscard]] float standing_of(double weight, double last_seconds);

// No link that has at least `least_weight` left stands below it.
[[nodiscard]] float least_standing(double least_weight, const LinkClock& clock);

[[nodiscard]] inline bool stands_before(const HalfLink& a, const HalfLink& b) {
  return a.standing != b.standing ? a.standing > b.standing : a.weight > b.weight;
}

// Calls visit(link) for each of a row's links that may have at least `least_weight` left, for which
// `least_standing` is that of the clock. Some may have less.
template <typename Visit>
ONEIROS_ALWAYS_INLINE void for_each_standing(std::span<const HalfLink> links, double least_weight,
                                             float least_standing, Visit visit) {
  constexpr float kFirst = std::numeric_limits<float>::infinity();
  const auto* link = links.data();
  const auto* const end = link + links.size();
  for (; link != end && link->standing == kFirst; ++link) {
    if (link->weight < least_weight) {
      link = std::partition_point(link, end,
                                  [](const HalfLink& other) { return other.standing == kFirst; });
      break;
    }
    visit(*link);
  }
  for (; link != end && !(link->standing < least_standing); ++link) {
    if (link->weight >= least_weight) {
      visit(*link);
    }
  }
}

}  // namespace oneiros
