// The best k of n scored candidates, in a total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace oneiros {

// Replaces `order` by the indices of the best k candidates, fewer where there are no more: higher
// score first, then the one that `precedes(a, b)`. A NaN is no score: its candidate is left out.
// REQUIRES: `precedes` is a total order.
template <typename Precedes>
void best_first(std::span<const double> scores, std::size_t k, std::vector<std::uint32_t>& order,
                Precedes precedes) {
  const auto is_better = [&](std::uint32_t a, std::uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : precedes(a, b);
  };
  order.clear();
  if (k == 0) {
    return;
  }
  if (scores.size() <= 2 * k) {  // most of them stay
    for (std::uint32_t i = 0; i < scores.size(); ++i) {
      if (scores[i] == scores[i]) {
        order.push_back(i);
      }
    }
    std::sort(order.begin(), order.end(), is_better);
    order.resize(std::min(order.size(), k));
    return;
  }
  // A heap with the last in rank in front. Once it is full, most candidates fail its threshold.
  double threshold = -std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] >= threshold)) {
      continue;
    }
    if (order.size() < k) {
      order.push_back(i);
      std::push_heap(order.begin(), order.end(), is_better);
    } else if (is_better(i, order.front())) {
      std::pop_heap(order.begin(), order.end(), is_better);
      order.back() = i;
      std::push_heap(order.begin(), order.end(), is_better);
    }
    if (order.size() == k) {
      threshold = scores[order.front()];
    }
  }
  std::sort_heap(order.begin(), order.end(), is_better);
}

// As above; equal scores by the smaller index.
inline void best_first(std::span<const double> scores, std::size_t k,
                       std::vector<std::uint32_t>& order) {
  best_first(scores, k, order, std::less<>());
}

}  // namespace oneiros
