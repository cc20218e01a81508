// Selection of the best k of n scored candidates in a total order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace oneiros {

// Sets `order` to the indices of the best k candidates, or of all if fewer: higher score first,
// then by `precedes(a, b)`. Candidates with a NaN score are left out. O(n log k), or a full sort if
// most are kept. REQUIRES: `precedes` is a total order.
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
  if (scores.size() <= 2 * k) {  // most are kept
    for (std::uint32_t i = 0; i < scores.size(); ++i) {
      if (scores[i] == scores[i]) {
        order.push_back(i);
      }
    }
    std::sort(order.begin(), order.end(), is_better);
    order.resize(std::min(order.size(), k));
    return;
  }
  // A heap with the worst at the front; once full, most candidates fail its threshold.
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

// The same with ties broken by the smaller index.
inline void best_first(std::span<const double> scores, std::size_t k,
                       std::vector<std::uint32_t>& order) {
  best_first(scores, k, order, std::less<>());
}

}  // namespace oneiros
