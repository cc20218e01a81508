// Reciprocal rank fusion: score = sum over lists of weight / (k + rank).
// Source: docs/systems/reverie.md R3; docs/systems/omega.md O7.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranking/ranked_union.h"

namespace oneiros {

struct ReciprocalRank {
  double k = 0;
  std::vector<double> weights;  // one a list, or empty: all 1
  // Each list's contributions are divided by its best, and the sums by the best sum (O7).
  bool is_normalised = false;
};

// Throws std::invalid_argument unless k is in [0, 1e9] and each weight in [0, 1e6].
void require_valid(const ReciprocalRank& rule);

// Writes the score of each id of the union; the sums are formed in the order of the lists.
// Throws std::invalid_argument for weights that are not one a list.
// REQUIRES: `rule` is valid; scores.size() == lists.size().
template <std::integral Id>
void fuse(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::span<double> scores);

// Writes what one list adds to that score, before the sums are divided by the best.
// REQUIRES: as fuse(), weights one a list or none, and list < lists.list_count().
template <std::integral Id>
void fuse_one(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::size_t list,
              std::span<double> scores);

// Fuses and keeps the best min(top, n): ids by score, the higher first, equal scores by first
// appearance. Throws std::invalid_argument as fuse(), require_valid() and entry_count().
void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const ReciprocalRank& rule, std::size_t top, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores);

}  // namespace oneiros
