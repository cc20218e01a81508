// The best k of n scored candidates, in a total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace oneiros {

// Replaces `order` by the indices of the best min(k, n) candidates: higher score first, then the
// one that `precedes(a, b)`. REQUIRES: no score is NaN; `precedes` is a total order.
template <typename Precedes>
void best_first(std::span<const double> scores, std::size_t k, std::vector<std::uint32_t>& order,
                Precedes precedes) {
  order.resize(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t kept = std::min(k, order.size());
  const auto is_better = [&](std::uint32_t a, std::uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : precedes(a, b);
  };
  if (kept < order.size() / 4) {
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(order.begin(), middle, order.end(), is_better);
  } else {
    std::sort(order.begin(), order.end(), is_better);
  }
  order.resize(kept);
}

// As above; equal scores by the smaller index.
inline void best_first(std::span<const double> scores, std::size_t k,
                       std::vector<std::uint32_t>& order) {
  best_first(scores, k, order, std::less<std::uint32_t>());
}

}  // namespace oneiros
