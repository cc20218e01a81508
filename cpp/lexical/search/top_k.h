// The k best hits in a bounded heap: higher score first, then the smaller row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace oneiros::lexical {

// A result row with its score.
struct Hit {
  double score;
  std::uint32_t row;
};

// The order of hits. Total, since rows are distinct and scores are not NaN. A function object
// rather than a function, so that heaps and sorts inline it.
inline constexpr auto ranks_before = [](const Hit& left, const Hit& right) {
  return left.score > right.score || (left.score == right.score && left.row < right.row);
};

// Sorts hits into rank order.
void rank(std::vector<Hit>& hits);

// Collects the best k of the offered hits. O(log k) per hit that enters, O(1) for others.
class TopK {
 public:
  // REQUIRES: k >= 1.
  explicit TopK(std::size_t k) : k_(k) { hits_.reserve(std::min(k, kUsual)); }

  std::size_t k() const { return k_; }

  // Hits with a lower score cannot enter; those with an equal score may, by their row. Minus
  // infinity until k hits are there.
  double threshold() const { return threshold_; }

  // Offers a hit; O(1) if it cannot enter.
  void offer(const Hit& hit) {
    if (hits_.size() < k_) {
      hits_.push_back(hit);
      if (hits_.size() < k_) {
        return;
      }
      std::ranges::make_heap(hits_, ranks_before);  // the last in rank is at the front
    } else if (ranks_before(hit, hits_.front())) {
      std::ranges::pop_heap(hits_, ranks_before);
      hits_.back() = hit;
      std::ranges::push_heap(hits_, ranks_before);
    } else {
      return;
    }
    threshold_ = hits_.front().score;
  }

  // Returns the hits in rank order and becomes empty.
  std::vector<Hit> take() {
    rank(hits_);
    threshold_ = -std::numeric_limits<double>::infinity();
    return std::exchange(hits_, {});
  }

 private:
  static constexpr std::size_t kUsual = 128;

  std::size_t k_;
  double threshold_ = -std::numeric_limits<double>::infinity();
  std::vector<Hit> hits_;  // a heap as soon as there are k
};

}  // namespace oneiros::lexical
