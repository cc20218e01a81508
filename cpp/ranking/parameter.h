// Judging a parameter: an error names the parameter, its rule and the value.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ranking/lanes.h"

namespace oneiros {

// The shortest text that reads back as `value`.
[[nodiscard]] std::string text_of(double value);

// Throws std::invalid_argument("<name>: <rule>, got <value>").
[[noreturn]] void refuse(std::string_view name, std::string_view rule, double value);

inline void require(bool holds, std::string_view name, std::string_view rule, double value) {
  if (!holds) {
    refuse(name, rule, value);
  }
}

inline void require_positive(std::string_view name, double value) {
  require(std::isfinite(value) && value > 0, name, "must be finite and > 0", value);
}

// A factor's largest parameter: with it no product of factors overflows, so no NaN reaches a sort.
inline constexpr double kLargestWeight = 1e6;

inline void require_weight(std::string_view name, double value) {
  require(value >= 0 && value <= kLargestWeight, name, "must be in [0, 1e6]", value);
}

// A count may be 0 or NaN, but neither negative nor endless. No branch a value: counts are many,
// and mostly good.
template <std::floating_point Real>
void require_counts(std::string_view name, std::span<const Real> counts) {
  Truth<Real> faults = 0;
  for (const Real count : counts) {
    faults |= static_cast<Truth<Real>>(count < 0);
    faults |= static_cast<Truth<Real>>(count > std::numeric_limits<Real>::max());
  }
  for (std::size_t i = 0; faults != 0 && i < counts.size(); ++i) {
    require(!(counts[i] < 0) && !std::isinf(counts[i]), name, "must be finite and >= 0",
            static_cast<double>(counts[i]));
  }
}

}  // namespace oneiros
