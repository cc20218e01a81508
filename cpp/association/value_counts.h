// A lower bound for the n-th largest of many values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

// A histogram of values. Constant-time updates, and a bound that is close to the n-th largest
// value; keeping the values sorted would cost more than it saves.
class ValueCounts {
 public:
  // Starts with no values; they must lie in [0, most].
  void begin(double most) {
    counts_.fill(0);
    // Below this, the quotient would be infinite; all values then share a class, and bounds are 0.
    per_value_ = most > 1e-290 ? static_cast<double>(kClasses - 1) / most : 0.0;
    value_of_class_ = most / static_cast<double>(kClasses - 1) * (1.0 - 1e-9);
  }
  void add(double value) { ++counts_[class_of(value)]; }
  // REQUIRES: the value was added.
  void remove(double value) { --counts_[class_of(value)]; }

  // At least n values reach the result; 0 if there are fewer than n. REQUIRES: n > 0.
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
  double value_of_class_ = 0.0;  // slightly less, so that rounding cannot raise the bound
};

}  // namespace oneiros
