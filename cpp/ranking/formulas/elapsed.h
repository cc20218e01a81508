// Helpers shared by the formulas: ages, NaN, bounds.
#pragma once

#include <limits>

#include "simd/real.h"

namespace oneiros::formulas {

template <typename Real>
inline constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

template <typename Real>
ONEIROS_ALWAYS_INLINE bool is_nan(Real x) {
  return x != x;
}

// Negative ages (a clock ahead of now) become 0; NaN stays NaN.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real elapsed(Real age) {
  return Real(0) > age ? Real(0) : age;
}

// NaN stays NaN.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real at_most(Real x, Real high) {
  return x > high ? high : x;
}

// 1 / tau, finite for every tau > 0. In a loop a product with it is far cheaper than a quotient.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real rate_of(Real tau) {
  return at_most(Real(1) / tau, std::numeric_limits<Real>::max());
}

template <typename Real>
ONEIROS_ALWAYS_INLINE Real at_least(Real x, Real low) {
  return x < low ? low : x;
}

// REQUIRES: low <= high. Both comparisons use x, so neither waits for the other.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real clamped(Real x, Real low, Real high) {
  const Real raised = x < low ? low : x;
  return x > high ? high : raised;
}

// x, or NaN if x is not a count: negative or infinite.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real as_count(Real x) {
  const Real bounded = x < Real(0) ? kNaN<Real> : x;
  return x > std::numeric_limits<Real>::max() ? kNaN<Real> : bounded;
}

}  // namespace oneiros::formulas
