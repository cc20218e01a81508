// e^x without branches or tables. See real.h for the rules.
#pragma once

#include <concepts>

#include "simd/real.h"

namespace oneiros {

// The bounds and constants of each type; beyond the bounds the result is 0 or infinity.
template <std::floating_point Real>
struct ExponentialConstants;

template <>
struct ExponentialConstants<double> {
  static constexpr double kLowest = -746.0;  // below: 0
  static constexpr double kHighest = 710.0;  // above: infinity
  static constexpr double kLowestBinary = -1076.0;
  static constexpr double kHighestBinary = 1025.0;
  // ln 2 in two parts: the first times any exponent is exact (fdlibm, e_exp.c).
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
};

template <>
struct ExponentialConstants<float> {
  static constexpr float kLowest = -105.0F;
  static constexpr float kHighest = 89.0F;
  static constexpr float kLowestBinary = -151.0F;
  static constexpr float kHighestBinary = 129.0F;
  static constexpr float kLn2High = 0x1.62e4p-1F;  // fdlibm, e_expf.c
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
};

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2: the sum of r^n / (n + 2)!, truncated where the rest is
// below a tenth of a rounding error. Estrin's scheme: Horner's would be one long dependency chain.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double exponential_series(double r) {
  const double square = r * r;
  const double fourth = square * square;
  const double low = (r * (1.0 / 120.0) + 1.0 / 24.0) * square + (r * (1.0 / 6.0) + 0.5);
  const double middle =
      (r * (1.0 / 362880.0) + 1.0 / 40320.0) * square + (r * (1.0 / 5040.0) + 1.0 / 720.0);
  const double high = (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0) * square +
                      (r * (1.0 / 39916800.0) + 1.0 / 3628800.0);
  return (high * fourth + middle) * fourth + low;
}

// The same with coefficients adjusted to spread the truncation error (Cephes, expf.c).
[[nodiscard]] ONEIROS_ALWAYS_INLINE float exponential_series(float r) {
  const float square = r * r;
  const float low = r * 1.6666665459e-1F + 5.0000001201e-1F;
  const float middle = r * 8.3334519073e-3F + 4.1665795894e-2F;
  const float high = r * 1.9875691500e-4F + 1.3981999507e-3F;
  return (high * square + middle) * square + low;
}

// e^(high + low) for |high + low| <= ln(2) / 2; the smaller |low|, the smaller the error.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real exponential_of_parts(Real high, Real low) {
  const Real r = high + low;
  return Real(1) + (high + (low + r * r * exponential_series(r)));
}

// value * 2^n, rounded once, where n is the integer in the low bits of `rounded`, kRounder + n.
// REQUIRES: 1/2 <= value <= 2; |n| <= 2 kBias - 2.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real scaled(Real value, Real rounded) {
  using Format = RealFormat<Real>;
  // In two steps: one would overflow or lose bits before the result does. The left shifts drop the
  // bits of kRounder above n.
  const RealBits<Real> biased_twice = bits_of(rounded) + 2 * Format::kBias;
  const RealBits<Real> half = biased_twice >> 1;
  const RealBits<Real> other = biased_twice - half;
  return value * real_of<Real>(half << Format::kMantissaBits) *
         real_of<Real>(other << Format::kMantissaBits);
}

// As exponential() for kLowest <= x <= kHighest; NaN for NaN; arbitrary elsewhere.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real exponential_within(Real x) {
  using Constants = ExponentialConstants<Real>;
  constexpr Real kLog2E = Real(1.4426950408889634);
  const Real rounded = x * kLog2E + kRounder<Real>;
  const Real power = rounded - kRounder<Real>;
  return scaled(exponential_of_parts(x - power * Constants::kLn2High, -power * Constants::kLn2Low),
                rounded);
}

// e^x within 1 ULP over the whole range, subnormal results included. 1 at 0, 0 at -infinity,
// infinity at infinity, NaN at NaN. Thread-safe: depends on nothing but its argument.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real exponential(Real x) {
  using Constants = ExponentialConstants<Real>;
  Real value = exponential_within(x);
  // Selected last, as in decay().
  value = x < Constants::kLowest ? Real(0) : value;
  return x > Constants::kHighest ? RealFormat<Real>::kInfinity : value;
}

// e^-x, where negative x count as 0 and NaN stays NaN. The same bits as exponential(-x) in fewer
// steps: the result is at most 1, so one power of two covers the range.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real decay(Real x) {
  using Constants = ExponentialConstants<Real>;
  using Format = RealFormat<Real>;
  constexpr Real kMinusLog2E = Real(-1.4426950408889634);
  // Every e^-x times 2^lift is a normal number.
  constexpr int kLift = sizeof(Real) == sizeof(float) ? 100 : 1000;
  constexpr Real kUnlift = sizeof(Real) == sizeof(float) ? Real(0x1p-100) : Real(0x1p-1000);
  constexpr Real kLiftedRounder = kRounder<Real> + Real(Format::kBias) + Real(kLift);
  const Real rounded = x * kMinusLog2E + kLiftedRounder;
  const Real power = rounded - kLiftedRounder;
  const Real value =
      exponential_of_parts(power * -Constants::kLn2High - x, power * -Constants::kLn2Low);
  // The shift drops the bits above the exponent. Rounded once, by the second product.
  Real left = value * real_of<Real>(bits_of(rounded) << Format::kMantissaBits) * kUnlift;
  // Beyond the bounds, x made nonsense of the steps above. The selection comes last because an
  // earlier one would lengthen the dependency chain, which is most of the cost of a row.
  left = x > -Constants::kLowest ? Real(0) : left;
  return Real(0) > x ? Real(1) : left;
}

// 2^x within 1 ULP over the whole range, exact at integers; special values as exponential().
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real binary_exponential(Real x) {
  using Constants = ExponentialConstants<Real>;
  constexpr Real kLn2MinusHalf = Real(0.1931471805599453);
  const Real rounded = x + kRounder<Real>;
  const Real rest = x - (rounded - kRounder<Real>);
  // rest ln(2), the larger part of it exact.
  Real value = scaled(exponential_of_parts(rest * Real(0.5), rest * kLn2MinusHalf), rounded);
  value = x < Constants::kLowestBinary ? Real(0) : value;
  return x > Constants::kHighestBinary ? RealFormat<Real>::kInfinity : value;
}

}  // namespace oneiros
