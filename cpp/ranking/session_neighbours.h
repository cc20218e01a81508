// What candidates gain from their neighbours in a session. Source: docs/systems/house.md H4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "columns/session_order.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros {

// A score and, for each distance r from 1 to reach, share * decay^(r - 1) of what `pair()` gives:
// the scores r steps before and after together.
template <typename Real, typename Pair>
Real spread_score(Real own, Real share, Real decay, double reach, Pair&& pair) {
  Real sum = own;
  for (double distance = 1; distance <= reach; ++distance) {
    sum += share * pair();
    share *= decay;
  }
  return sum;
}

struct NeighbourRule {
  double share;
  double decay;
  unsigned reach;
  std::size_t seeds;   // how many of the best candidates bring their neighbours in
  bool is_above_mean;  // share what a score has beyond the candidates' mean, else all of it
};

struct BroughtIn {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> hits;  // the candidate that brought each: the best of those that could
};

// The neighbours, within reach, of the best candidates that are allowed and none themselves: by
// hit, best first, then the nearer, then the earlier. `scores`: one a row; NaN is no score.
[[nodiscard]] BroughtIn neighbours_of_best(const SessionOrder& order,
                                           std::span<const std::uint32_t> rows,
                                           std::span<const double> scores,
                                           const NeighbourRule& rule,
                                           const lexical::AllowedRows& allowed);

// What each candidate gains from the others; 0 for what is no candidate, and for NaN.
[[nodiscard]] std::vector<double> neighbour_shares(const SessionOrder& order,
                                                   std::span<const std::uint32_t> rows,
                                                   std::span<const double> scores,
                                                   const NeighbourRule& rule);

}  // namespace oneiros
