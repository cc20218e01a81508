// Rules for the values of a parameter.
#pragma once

#include <limits>
#include <string_view>

namespace oneiros {

// A range of allowed values, with the words of the error message.
struct Rule {
  double low;
  double high;
  bool is_above_low;  // `low` itself is not allowed
  bool is_whole;
  std::string_view words;

  [[nodiscard]] constexpr bool allows(double value) const noexcept {
    // No rule with whole numbers reaches beyond 2^53.
    return value >= low && value <= high && !(is_above_low && value == low) &&
           !(is_whole && value != static_cast<double>(static_cast<long long>(value)));
  }
};

inline constexpr double kEndless = std::numeric_limits<double>::infinity();
inline constexpr double kLargest = std::numeric_limits<double>::max();

inline constexpr Rule kAnyNumber{-kEndless, kEndless, false, false, "must not be NaN"};
inline constexpr Rule kFinite{-kLargest, kLargest, false, false, "must be finite"};
inline constexpr Rule kPositive{0.0, kLargest, true, false, "must be > 0 and finite"};
inline constexpr Rule kAboveZero{0.0, kEndless, true, false, "must be > 0"};
inline constexpr Rule kNotNegative{0.0, kLargest, false, false, "must be finite and >= 0"};
inline constexpr Rule kShare{0.0, 1.0, false, false, "must be in [0, 1]"};
inline constexpr Rule kFlag{0.0, 1.0, false, true, "must be 0 or 1"};
// The bound of factor parameters: products of factors then cannot overflow, so no NaN reaches a
// sort.
inline constexpr Rule kWeight{0.0, 1e6, false, false, "must be in [0, 1e6]"};

}  // namespace oneiros
