// The order of a row's links: by decayed weight, the largest first.
//
// At time T, a link last retrieved at t has w exp(-(T - t) / tau) left, which is exp(standing - T /
// tau) with standing = ln(w) + t / tau. The order by standing is therefore the same at every T, and
// a reader that needs links with some least weight can stop at the first one below. The standing is
// a bound, rounded so that it never cuts too early: it decides what is read, never what is found. A
// link retrieved after T has less left than its standing implies. Links without a last co-retrieval
// come first, by weight.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "association/link.h"
#include "association/link_decay.h"
#include "simd/real.h"

namespace oneiros {

// The order holds for links that decay at this rate (C16 as published). At other rates it is
// meaningless, and every link is examined.
inline constexpr double kOrderTauDays = 90.0;

// The sort key of a link. REQUIRES: weight > 0.
[[nodiscard]] float standing_of(double weight, double last_seconds);

// A bound: links with at least `least_weight` left do not stand below it.
[[nodiscard]] float least_standing(double least_weight, const LinkClock& clock);

[[nodiscard]] inline bool stands_before(const HalfLink& a, const HalfLink& b) {
  return a.standing != b.standing ? a.standing > b.standing : a.weight > b.weight;
}

// Calls visit(link) for each link that may have at least `least_weight` left; some may have less.
// `least_standing` is least_standing(least_weight, clock).
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
