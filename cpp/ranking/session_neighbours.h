// Boosts from adjacent messages of the same session. Source: docs/systems/house.md H4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "columns/session_order.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros {

// `own` plus, for each distance r from 1 to reach, share * decay^(r - 1) times pair(), the sum of
// the scores r steps before and after.
template <typename Real, typename Pair>
Real spread_score(Real own, Real share, Real decay, double reach, Pair&& pair) {
  Real sum = own;
  for (double distance = 1; distance <= reach; ++distance) {
    sum += share * pair();
    share *= decay;
  }
  return sum;
}

// The parameters of the boost.
struct NeighbourRule {
  double share;
  double decay;
  unsigned reach;
  std::size_t seeds;  // how many of the best candidates add their neighbours to the set
  // What of a score is lent: the excess over the mean of the candidates, or all of it.
  bool is_above_mean;
  // Whether only what exceeds the mean of the session's candidates, too, is lent: where all of a
  // session is alike, standing next to a hit says nothing.
  bool is_above_session = false;
  // The length in words up to which a text takes its whole share; a longer one takes
  // whole_length / length of it, since it says more by itself. 0: all of any length.
  double whole_length = 0;
  // Whether a text takes from the better of the two neighbours at a distance, else from both.
  bool is_from_better = false;
  // The part of what a text lacks to the best relevance in its session, after the shares, that it
  // takes. So one that is alone takes nothing, with a session or without.
  double session_share = 0;
};

// Rows added to the candidate set.
struct BroughtIn {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> hits;  // for each, the best candidate that is its neighbour
};

// True if finding the neighbours of these rows among those of `scope` takes more than a few
// thousand steps over others, because strangers use the same session. The caller then places the
// scope's rows in an order of their own.
[[nodiscard]] bool is_long_walk(const SessionOrder& order, std::span<const std::uint32_t> rows,
                                const NeighbourRule& rule, const lexical::AllowedRows& scope);

// The allowed neighbours, within reach, of the best candidates that are not candidates themselves:
// by candidate, best first, then by distance, then the earlier. `scores`: one per row, NaN for
// none. Rows outside `scope` are no neighbours; those behind them are.
[[nodiscard]] BroughtIn neighbours_of_best(const SessionOrder& order,
                                           std::span<const std::uint32_t> rows,
                                           std::span<const double> scores,
                                           const NeighbourRule& rule,
                                           const lexical::AllowedRows& scope,
                                           const lexical::AllowedRows& allowed);

// The boost of each candidate by the others of its session; neighbours that are no candidates, and
// NaN, count as 0. `lengths`: of the candidates' texts, in words; read if the rule has a whole
// length.
[[nodiscard]] std::vector<double> neighbour_shares(const SessionOrder& order,
                                                   std::span<const std::uint32_t> rows,
                                                   std::span<const double> scores,
                                                   const NeighbourRule& rule,
                                                   const lexical::AllowedRows& scope,
                                                   std::span<const double> lengths = {});

}  // namespace oneiros
