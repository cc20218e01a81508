// Reciprocal rank fusion: score = sum over lists of weight / (k + rank) (Cormack, Clarke,
// Buettcher: "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009). Source:
// docs/systems/reverie.md R3; docs/systems/omega.md O7.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranking/ranked_union.h"

namespace oneiros {

// The parameters of a fusion.
struct ReciprocalRank {
  double k = 0;
  std::vector<double> weights;  // one per list, or empty: all 1
  // Divides each list's contributions by its best, and the sums by the best sum (O7).
  bool is_normalised = false;
};

// Throws std::invalid_argument unless k is in [0, 1e9] and each weight in [0, 1e6].
void require_valid(const ReciprocalRank& rule);

// Writes the score of each id of the union; contributions are added in list order. Throws
// std::invalid_argument if the weights are not one per list. REQUIRES: `rule` is valid;
// scores.size() == lists.size().
template <std::integral Id>
void fuse(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::span<double> scores);

// Writes the contribution of one list, before sums are divided by the best. REQUIRES: as fuse(),
// and list < lists.list_count().
template <std::integral Id>
void fuse_one(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::size_t list,
              std::span<double> scores);

// Fuses and returns the best min(top, n) ids: higher score first, then first appearance. Throws
// std::invalid_argument as fuse(), require_valid() and entry_count().
void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const ReciprocalRank& rule, std::size_t top, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores);

}  // namespace oneiros
