// How large the n-th largest of many values is at least.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

// Counts values by their size, in so many classes that few lie between the bound and the value it
// is of; to keep them in order would cost more than it saves.
class ValueCounts {
 public:
  // For values in [0, most].
  void begin(double most) {
    counts_.fill(0);
    // Below, the quotient would be endless; all are then of the first class, and every bound is 0.
    per_value_ = most > 1e-290 ? static_cast<double>(kClasses - 1) / most : 0.0;
    value_of_class_ = most / static_cast<double>(kClasses - 1) * (1.0 - 1e-9);
  }
  void add(double value) { ++counts_[class_of(value)]; }
  // REQUIRES: it was added.
  void remove(double value) { --counts_[class_of(value)]; }

  // At least n values are as large; 0 where there are not so many. REQUIRES: n > 0.
  [[nodiscard]] double bound_of_nth(std::size_t n) const {
    std::size_t count = 0;
    for (std::size_t number = kClasses; number-- > 0;) {
      count += counts_[number];
      if (count >= n) {
        return static_cast<double>(number) * value_of_class_;
      }
    }
    return 0.0;
  }

 private:
  static constexpr std::size_t kClasses = 128;

  [[nodiscard]] std::size_t class_of(double value) const {
    return std::min(static_cast<std::size_t>(value * per_value_), kClasses - 1);
  }

  std::array<std::uint32_t, kClasses> counts_{};
  double per_value_ = 0.0;
  double value_of_class_ = 0.0;  // a little less, so that no rounding raises it
};

}  // namespace oneiros
