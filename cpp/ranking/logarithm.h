// Logarithms of what is at least 1, without branches or tables: SIMD in a loop, and the same bits
// on every machine. exponential.h has the reasons.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace oneiros {

template <std::floating_point Real>
struct LogarithmConstants;

template <>
struct LogarithmConstants<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kOne = 0x3ff0000000000000;
  static constexpr Bits kHalfRoot = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  static constexpr double kExponentOffset = 0x1p52;      // its low bits count
  static constexpr Bits kExponentBits = 0x4330000000000000;
};

template <>
struct LogarithmConstants<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kOne = 0x3f800000;
  static constexpr Bits kHalfRoot = 0x3f3504f3;
  static constexpr float kExponentOffset = 0x1p23F;
  static constexpr Bits kExponentBits = 0x4b000000;
};

// (ln(1 + f) - f + f^2/2 - s f^2/2) / s by its series in s^2, s = f / (2 + f), |f| < sqrt(2) - 1:
// ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...), the coefficients shifted a little to spread
// the error of the cut (FreeBSD msun, e_log.c and e_logf.c).
inline double logarithm_series(double square) {
  double sum = 1.479819860511658591e-01;
  sum = sum * square + 1.531383769920937332e-01;
  sum = sum * square + 1.818357216161805012e-01;
  sum = sum * square + 2.222219843214978396e-01;
  sum = sum * square + 2.857142874366239149e-01;
  sum = sum * square + 3.999999999940941908e-01;
  sum = sum * square + 6.666666666666735130e-01;
  return sum * square;
}

inline float logarithm_series(float square) {
  float sum = 0.24279078841F;
  sum = sum * square + 0.28498786688F;
  sum = sum * square + 0.40000972152F;
  sum = sum * square + 0.66666662693F;
  return sum * square;
}

// x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)); log = ln(1 + fraction).
template <std::floating_point Real>
struct LogarithmParts {
  Real exponent;
  Real log;
};

template <std::floating_point Real>
inline LogarithmParts<Real> logarithm_parts(Real x) {
  using Constants = LogarithmConstants<Real>;
  using Bits = typename Constants::Bits;
  // Counting from sqrt(1/2), the exponent's carry falls where the fraction must start again.
  const Bits shifted = std::bit_cast<Bits>(x) + (Constants::kOne - Constants::kHalfRoot);
  const Bits biased = shifted >> Constants::kMantissaBits;
  const Bits bias = Constants::kOne >> Constants::kMantissaBits;
  const Real exponent = std::bit_cast<Real>(Constants::kExponentBits | biased) -
                        (Constants::kExponentOffset + static_cast<Real>(bias));
  const Bits mantissa =
      (shifted & ((Bits{1} << Constants::kMantissaBits) - 1)) + Constants::kHalfRoot;
  const Real f = std::bit_cast<Real>(mantissa) - Real(1);
  const Real s = f / (Real(2) + f);
  const Real half_square = Real(0.5) * f * f;
  const Real log = f - (half_square - s * (half_square + logarithm_series(s * s)));
  return {exponent, log};
}

// ln(x) within 2 ULP. REQUIRES: x is finite and >= 1, or NaN, which stays NaN.
template <std::floating_point Real>
inline Real natural_logarithm(Real x) {
  const auto [exponent, log] = logarithm_parts(x);
  // ln 2 in two parts: the first times any exponent is exact.
  constexpr Real kLn2High = sizeof(Real) == 4 ? Real(0x1.62e4p-1) : Real(0x1.62e42feep-1);
  constexpr Real kLn2Low = sizeof(Real) == 4 ? Real(0x1.7f7d1cp-20) : Real(0x1.a39ef35793c76p-33);
  const Real value = exponent * kLn2High + (log + exponent * kLn2Low);
  return x != x ? x : value;
}

// log2(x) within 2 ULP, exact at powers of two. REQUIRES: as natural_logarithm().
template <std::floating_point Real>
inline Real binary_logarithm(Real x) {
  const auto [exponent, log] = logarithm_parts(x);
  const Real value = exponent + log * Real(1.4426950408889634);
  return x != x ? x : value;
}

}  // namespace oneiros
