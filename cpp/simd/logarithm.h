// Logarithms without branches or tables. See real.h for the rules.
#pragma once

#include <concepts>

#include "simd/real.h"

namespace oneiros {

// The constants of each type.
template <std::floating_point Real>
struct LogarithmConstants;

template <>
struct LogarithmConstants<double> {
  static constexpr RealBits<double> kHalfRoot = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  static constexpr double kSubnormalScale = 0x1p54;
  static constexpr double kSubnormalExponent = 54.0;
  static constexpr double kLn2High = 0x1.62e42feep-1;  // the parts in exponential.h
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kLog2EMinusOne = 0x1.c551d94ae0bf8p-2;
};

template <>
struct LogarithmConstants<float> {
  static constexpr RealBits<float> kHalfRoot = 0x3f3504f3;
  static constexpr float kSubnormalScale = 0x1p25F;
  static constexpr float kSubnormalExponent = 25.0F;
  static constexpr float kLn2High = 0x1.62e4p-1F;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kLog2EMinusOne = 0x1.c551dap-2F;
};

// (ln(1 + f) - f + f^2/2 - s f^2/2) / s by its series in s^2, s = f / (2 + f), |f| < sqrt(2) - 1:
// ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...), the coefficients shifted a little to spread
// the error of the cut (FreeBSD msun, e_log.c and e_logf.c).
[[nodiscard]] ONEIROS_ALWAYS_INLINE double logarithm_series(double square) {
  double sum = 1.479819860511658591e-01;
  sum = sum * square + 1.531383769920937332e-01;
  sum = sum * square + 1.818357216161805012e-01;
  sum = sum * square + 2.222219843214978396e-01;
  sum = sum * square + 2.857142874366239149e-01;
  sum = sum * square + 3.999999999940941908e-01;
  sum = sum * square + 6.666666666666735130e-01;
  return sum * square;
}

[[nodiscard]] ONEIROS_ALWAYS_INLINE float logarithm_series(float square) {
  float sum = 0.24279078841F;
  sum = sum * square + 0.28498786688F;
  sum = sum * square + 0.40000972152F;
  sum = sum * square + 0.66666662693F;
  return sum * square;
}

// f - ln(1 + f), about f^2/2, for |f| < sqrt(2) - 1.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real logarithm_shortfall(Real f) {
  const Real s = f / (Real(2) + f);
  const Real half_square = Real(0.5) * f * f;
  return half_square - s * (half_square + logarithm_series(s * s));
}

// x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)); `shift` is the exponent
// times 2^kMantissaBits, for arithmetic on bits.
template <std::floating_point Real>
struct BinaryParts {
  Real exponent;
  Real fraction;
  RealBits<Real> shift;
};

// REQUIRES: x is normal and > 0; else the parts mean nothing.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE BinaryParts<Real> binary_parts(Real x) {
  using Format = RealFormat<Real>;
  // 2^kMantissaBits: the low bits of its neighbours count integers.
  constexpr RealBits<Real> kCounterBits = (Format::kBias + Format::kMantissaBits)
                                          << Format::kMantissaBits;
  constexpr Real kCounter =
      static_cast<Real>((RealBits<Real>{1} << Format::kMantissaBits) + Format::kBias);
  // Counted from sqrt(1/2), so that the carry into the exponent happens where the fraction
  // restarts.
  const RealBits<Real> shifted =
      bits_of(x) + (kOneBits<Real> - LogarithmConstants<Real>::kHalfRoot);
  const Real exponent = real_of<Real>(kCounterBits | (shifted >> Format::kMantissaBits)) - kCounter;
  const RealBits<Real> whole = shifted & ~kMantissaMask<Real>;
  const RealBits<Real> shift = whole - kOneBits<Real>;
  return {exponent, real_of<Real>(bits_of(x) - shift) - Real(1), shift};
}

// As binary_parts(), including subnormals.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE BinaryParts<Real> binary_parts_of_any(Real x) {
  using Constants = LogarithmConstants<Real>;
  const bool is_small = x < RealFormat<Real>::kSmallestNormal;
  BinaryParts<Real> parts = binary_parts(is_small ? x * Constants::kSubnormalScale : x);
  parts.exponent = is_small ? parts.exponent - Constants::kSubnormalExponent : parts.exponent;
  return parts;
}

// The value of a logarithm of `x` outside (0, infinity): -infinity at 0, infinity at infinity, NaN
// below 0 and at NaN; `value` inside.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real logarithm_or_edge(Real x, Real value) {
  using Format = RealFormat<Real>;
  const Real below = x == Real(0) ? -Format::kInfinity : Format::kNotANumber;
  const Real above = x < Format::kInfinity ? value : Format::kInfinity;
  return x > Real(0) ? above : below;
}

// exponent ln(2) + fraction - shortfall, with little more than one rounding.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real natural_sum(Real exponent, Real fraction, Real shortfall) {
  using Constants = LogarithmConstants<Real>;
  const Real whole = exponent * Constants::kLn2High;  // exact
  const Real high = whole + fraction;
  const Real low = fraction - (high - whole);  // exact: |whole| > |fraction|, or whole is 0
  return high + (low + (exponent * Constants::kLn2Low - shortfall));
}

// exponent + (fraction - shortfall) / ln(2), likewise; of the quotient, the fraction itself is
// exact.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real binary_sum(Real exponent, Real fraction, Real shortfall) {
  const Real rest =
      fraction * LogarithmConstants<Real>::kLog2EMinusOne - shortfall * Real(1.4426950408889634);
  const Real high = exponent + fraction;
  const Real low = fraction - (high - exponent);  // exact, as above
  return high + (low + rest);
}

// ln(x) within 1 ULP over the whole range, subnormals included. 0 at 1, -infinity at 0 and -0,
// infinity at infinity, NaN below 0 and at NaN.
// Thread-safe, as all functions here: depends on nothing but its argument.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real natural_logarithm(Real x) {
  const BinaryParts<Real> parts = binary_parts_of_any(x);
  const Real shortfall = logarithm_shortfall(parts.fraction);
  return logarithm_or_edge(x, natural_sum(parts.exponent, parts.fraction, shortfall));
}

// log2(x) within 1.5 ULP, exact at powers of two; special values as natural_logarithm().
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real binary_logarithm(Real x) {
  const BinaryParts<Real> parts = binary_parts_of_any(x);
  const Real shortfall = logarithm_shortfall(parts.fraction);
  return logarithm_or_edge(x, binary_sum(parts.exponent, parts.fraction, shortfall));
}

// 1 + x = 2^exponent (1 + fraction + low): the rounding error of the sum is kept.
template <std::floating_point Real>
struct OnePlusParts {
  Real sum;  // rounded
  Real exponent;
  Real fraction;
  Real low;
};

template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE OnePlusParts<Real> parts_of_one_plus(Real x) {
  const Real sum = Real(1) + x;
  // Knuth's two-sum: exact.
  const Real taken = sum - Real(1);
  const Real lost = (Real(1) - (sum - taken)) + (x - taken);
  const BinaryParts<Real> parts = binary_parts(sum);
  // 2^-exponent; beyond the bound its bits may be meaningless, and the loss is then irrelevant.
  constexpr Real kLossless =
      static_cast<Real>(RealBits<Real>{1} << (RealFormat<Real>::kMantissaBits + 4));
  const Real scaled_loss = lost * real_of<Real>(kOneBits<Real> - parts.shift);
  const Real loss = x < kLossless ? scaled_loss : Real(0);
  const Real fraction = parts.fraction + loss;
  return {sum, parts.exponent, fraction, (parts.fraction - fraction) + loss};
}

// ln(1 + x) within 1 ULP over the whole range, without the cancellation near 0. x itself at 0, -0
// and subnormals; -infinity at -1, infinity at infinity, NaN below -1 and at NaN.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real logarithm_of_one_plus(Real x) {
  const OnePlusParts<Real> parts = parts_of_one_plus(x);
  const Real shortfall = logarithm_shortfall(parts.fraction) - parts.low;
  const Real value = natural_sum(parts.exponent, parts.fraction, shortfall);
  return x == Real(0) ? x : logarithm_or_edge(parts.sum, value);
}

// log2(1 + x) within 1.5 ULP of normal results, exact where 1 + x is a power of two; special values
// as logarithm_of_one_plus().
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real binary_logarithm_of_one_plus(Real x) {
  const OnePlusParts<Real> parts = parts_of_one_plus(x);
  const Real shortfall = logarithm_shortfall(parts.fraction) - parts.low;
  const Real value = binary_sum(parts.exponent, parts.fraction, shortfall);
  return x == Real(0) ? x : logarithm_or_edge(parts.sum, value);
}

}  // namespace oneiros
