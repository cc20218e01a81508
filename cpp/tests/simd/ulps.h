// Distances in units in the last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace oneiros::testing {

// The distance of `got` from `want` in units in the last place that a Real near `want` has;
// infinity counts as the number that would follow the largest. 0 if both are NaN.
template <std::floating_point Real>
double error_in_ulps(Real got, long double want) {
  using Limits = std::numeric_limits<Real>;
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) == std::isnan(got) ? 0.0 : HUGE_VAL;
  }
  const auto last = static_cast<long double>(Limits::max());
  const auto beyond = last + std::ldexp(1.0L, Limits::max_exponent - Limits::digits);
  const auto bounded = [&](long double x) { return std::clamp(x, -beyond, beyond); };
  const int exponent = want == 0 ? Limits::min_exponent : std::ilogb(bounded(want)) + 1;
  const int unit =
      std::clamp(exponent, Limits::min_exponent, Limits::max_exponent) - Limits::digits;
  return static_cast<double>(
      std::ldexp(std::abs(bounded(static_cast<long double>(got)) - bounded(want)), -unit));
}

// The worst error seen, and where.
struct WorstError {
  double ulps = 0.0;
  double x = 0.0;
  double y = 0.0;

  void see(double error, double at_x, double at_y = 0.0) {
    if (!(error <= ulps)) {
      *this = {error, at_x, at_y};
    }
  }
};

}  // namespace oneiros::testing
