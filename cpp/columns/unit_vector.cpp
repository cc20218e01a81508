// Normalisation with a fixed order of summation, so that all machines give the same bits.
#include "columns/unit_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace oneiros {

namespace {

constexpr std::size_t kLanes = 8;

template <typename Value>
double squared_length(std::span<const Value> values) {
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  }
  for (std::size_t lane = 0; i < values.size(); ++i, ++lane) {
    const auto value = static_cast<double>(values[i]);
    sums[lane] += value * value;
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <typename Value>
UnitVector made_unit(std::span<const Value> values, std::span<float> unit) {
  const double squared = squared_length(values);
  // A NaN or an infinity anywhere makes the sum so. A value too small to be squared counts as 0.
  if (!std::isfinite(squared)) {
    return UnitVector::refused;
  }
  if (squared == 0.0) {
    return UnitVector::zero;
  }
  const double length = std::abs(squared - 1.0) > kUnitTolerance ? std::sqrt(squared) : 1.0;
  std::ranges::transform(values, unit.begin(), [length](Value value) {
    return static_cast<float>(static_cast<double>(value) / length);
  });
  return UnitVector::made;
}

}  // namespace

UnitVector to_unit(std::span<const float> values, std::span<float> unit) {
  return made_unit(values, unit);
}

UnitVector to_unit(std::span<const double> values, std::span<float> unit) {
  return made_unit(values, unit);
}

}  // namespace oneiros
