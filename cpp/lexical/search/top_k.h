// The best k hits seen, in a heap: higher score first, then the smaller row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace oneiros::lexical {

struct Hit {
  double score;
  std::uint32_t row;
};

// A total order, since no two hits share a row and no score is NaN. An object, so that heaps and
// sorts take it in rather than call it.
inline constexpr auto ranks_before = [](const Hit& left, const Hit& right) {
  return left.score > right.score || (left.score == right.score && left.row < right.row);
};

// Puts hits in rank order.
void rank(std::vector<Hit>& hits);

class TopK {
 public:
  // REQUIRES: k >= 1.
  explicit TopK(std::size_t k) : k_(k) { hits_.reserve(std::min(k, kUsual)); }

  std::size_t k() const { return k_; }

  // No hit that scores below this can enter; one that scores the same may, by its row.
  double threshold() const { return threshold_; }

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

  // The hits in rank order. Leaves none behind.
  std::vector<Hit> take() {
    rank(hits_);
    threshold_ = -std::numeric_limits<double>::infinity();
    return std::exchange(hits_, {});
  }

 private:
  static constexpr std::size_t kUsual = 128;

  std::size_t k_;
  double threshold_ = -std::numeric_limits<double>::infinity();
  std::vector<Hit> hits_;  // a heap once there are k
};

}  // namespace oneiros::lexical
