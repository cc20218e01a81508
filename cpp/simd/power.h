// x^y without branches or tables. See real.h for the rules.
#pragma once

#include <concepts>

#include "simd/exponential.h"
#include "simd/logarithm.h"
#include "simd/real.h"

namespace oneiros {

// A number as the unevaluated sum of two doubles, the second far below the first.
struct DoubleParts {
  double high;
  double low;
};

// x with the lower half of its mantissa cleared: the product of two such numbers is exact.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double upper_half(double x) {
  return real_of<double>(bits_of(x) & 0xfffffffff8000000);
}

// 3/2 ln(m / c) in two parts from s = (m - c) / (m + c), |s| < 0.102: s times the series 3 + s^2 +
// 3/5 s^4 + ... `s` is the quotient rounded; the coefficients are those of FreeBSD msun,
// e_pow.c, and so is the order of the sums.
[[nodiscard]] ONEIROS_ALWAYS_INLINE DoubleParts logarithm_of_quotient(double s, DoubleParts parts) {
  const double square = s * s;
  double series = 2.06975017800338417784e-01;
  series = series * square + 2.30660745775561754067e-01;
  series = series * square + 2.72728123808534006489e-01;
  series = series * square + 3.33333329818377432918e-01;
  series = series * square + 4.28571428578550184252e-01;
  series = series * square + 5.99999999999994648725e-01;
  const double rest = square * square * series + parts.low * (parts.high + s);
  const double exact_square = parts.high * parts.high;
  const double factor = upper_half(3.0 + exact_square + rest);
  const double factor_low = rest - ((factor - 3.0) - exact_square);
  const double product = parts.high * factor;
  const double product_low = parts.low * factor + factor_low * s;
  const double high = upper_half(product + product_low);
  return {high, product_low - (high - product)};
}

// log2(x) in two parts, within 2^-66 of its value. REQUIRES: x is finite and > 0.
[[nodiscard]] ONEIROS_ALWAYS_INLINE DoubleParts binary_logarithm_parts(double x) {
  constexpr RealBits<double> kRootOfThreeQuarters = 0x3febb67ae8584caa;
  constexpr double kRootOfThreeHalves = 0x1.3988e1409212ep0;
  const bool is_small = x < RealFormat<double>::kSmallestNormal;
  x = is_small ? x * 0x1p54 : x;
  // x = 2^exponent m, m in [sqrt(3/4), sqrt(3)), counted as in binary_parts().
  const RealBits<double> shifted = bits_of(x) + (kOneBits<double> - kRootOfThreeQuarters);
  const double counted = real_of<double>(0x4330000000000000 | (shifted >> 52)) - (0x1p52 + 1023.0);
  const double exponent = is_small ? counted - 54.0 : counted;
  const RealBits<double> whole = shifted & ~kMantissaMask<double>;
  const auto m = real_of<double>(bits_of(x) - (whole - kOneBits<double>));
  // m = c (1 + s) / (1 - s), with c = 1 or 3/2, whichever is near.
  const bool is_high = m >= kRootOfThreeHalves;
  const double c = is_high ? 1.5 : 1.0;
  const double inverse = 1.0 / (m + c);
  const double difference = m - c;  // exact
  const double s = difference * inverse;
  const double s_high = upper_half(s);
  const double sum_high = upper_half(m + c);
  const double sum_low = m - (sum_high - c);
  const double s_low = inverse * ((difference - s_high * sum_high) - s_high * sum_low);
  const DoubleParts log = logarithm_of_quotient(s, {s_high, s_low});
  // Times 2 / (3 ln 2), plus log2(c), plus the exponent (constants of msun, as above).
  const double high = 9.61796700954437255859e-01 * log.high;  // exact
  const double low = -7.02846165095275826516e-09 * log.high + log.low * 9.61796693925975554329e-01 +
                     (is_high ? 1.35003920212974897128e-08 : 0.0);
  const double c_log = is_high ? 5.84962487220764160156e-01 : 0.0;
  const double total = upper_half(((high + low) + c_log) + exponent);
  return {total, low - (((total - exponent) - c_log) - high)};
}

// 2^(high + low), rounded little more than once; 0 or infinity where that is what it rounds to.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double binary_exponential_of_parts(DoubleParts x) {
  constexpr double kFarthest = 1100.0;
  const double sum = x.high + x.low;
  x.low = magnitude_of(sum) < kFarthest ? x.low : 0.0;
  x.high = sum < -kFarthest ? -kFarthest : x.high;
  x.high = sum > kFarthest ? kFarthest : x.high;
  const double rounded = (x.high + x.low) + kRounder<double>;
  const double rest = x.high - (rounded - kRounder<double>);  // exact
  // Times ln 2, again in halves (constants of msun, e_pow.c).
  const double high = upper_half(rest + x.low);
  const double low =
      (x.low - (high - rest)) * 6.93147180559945286227e-01 + high * -1.90465429995776804525e-09;
  return scaled(exponential_of_parts(high * 6.93147182464599609375e-01, low), rounded);
}

// log2(x) with a relative error below 2^-44, for powers rounded to float. REQUIRES: x is normal and
// > 0.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double binary_logarithm_for_float(double x) {
  const BinaryParts<double> parts = binary_parts(x);
  const double s = parts.fraction / (2.0 + parts.fraction);
  const double square = s * s;
  // log2((1 + s) / (1 - s)) / s as a polynomial in s^2 over |s| <= 3 - 2 sqrt(2), its largest
  // relative error, 2^-45, made least (Remez exchange).
  double sum = 0x1.21b05ac9fb6ddp-2;
  sum = sum * square + 0x1.47955fb8775afp-2;
  sum = sum * square + 0x1.a61a2e92121d1p-2;
  sum = sum * square + 0x1.2776c293800d0p-1;
  sum = sum * square + 0x1.ec709dc53c325p-1;
  sum = sum * square + 0x1.71547652b8251p+1;
  return parts.exponent + s * sum;
}

// 2^x with a relative error below 2^-34, for powers rounded to float. REQUIRES: |x| <= 1000.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double binary_exponential_for_float(double x) {
  const double rounded = x + kRounder<double>;
  const double r = x - (rounded - kRounder<double>);
  // 2^r over |r| <= 1/2, made as the polynomial above; the largest relative error is 2^-34.5.
  double sum = 0x1.fe1786b50da52p-17;
  sum = sum * r + 0x1.446a1fdd54f3ap-13;
  sum = sum * r + 0x1.5d8a7085cddb8p-10;
  sum = sum * r + 0x1.3b29dc40d2ec5p-7;
  sum = sum * r + 0x1.c6b08aaf3156ep-5;
  sum = sum * r + 0x1.ebfbe0a4be886p-3;
  sum = sum * r + 0x1.62e42ff11627ap-1;
  sum = sum * r + 0x1.ffffffffabbccp-1;
  return sum * real_of<double>((bits_of(rounded) + RealFormat<double>::kBias) << 52);
}

// x^y with the signs and special cases of IEEE 754, given |x|^y for finite |x| > 0.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real power_or_edge(Real x, Real y, Real value) {
  using Format = RealFormat<Real>;
  // Adding it rounds what lies below it to an integer. From here on every Real is one, and from
  // twice as much an even one; infinity counts as even.
  constexpr Real kIntegers = static_cast<Real>(RealBits<Real>{1} << Format::kMantissaBits);
  const Real magnitude = magnitude_of(x);
  const Real at_infinity = y > Real(0) ? Format::kInfinity : Real(0);
  const Real at_zero = y > Real(0) ? Real(0) : Format::kInfinity;
  value = magnitude < Format::kInfinity ? value : at_infinity;
  value = magnitude > Real(0) ? value : at_zero;
  const Real exponent = magnitude_of(y);
  const Real whole = exponent < kIntegers ? exponent : Real(0);
  const Real half = exponent < 2 * kIntegers ? exponent * Real(0.5) : Real(0);
  const Real odd_sign = (half + kIntegers) - kIntegers == half ? Real(1) : Real(-1);
  const Real finite_sign = magnitude < Format::kInfinity ? Format::kNotANumber : Real(1);
  const Real broken_sign = magnitude > Real(0) ? finite_sign : Real(1);
  const Real negative_sign = (whole + kIntegers) - kIntegers == whole ? odd_sign : broken_sign;
  const Real one_of_sign = real_of<Real>((bits_of(x) & kSignBit<Real>) | kOneBits<Real>);
  value *= one_of_sign < Real(0) ? negative_sign : Real(1);
  value = x == x ? value : Format::kNotANumber;
  value = y == y ? value : Format::kNotANumber;
  value = y == Real(0) ? Real(1) : value;
  return x == Real(1) ? Real(1) : value;
}

// Large enough that |x|^y overflows or vanishes unless |x| is 1, small enough that products do not
// overflow.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double bounded_exponent(double y) {
  constexpr double kBound = 0x1p80;
  y = -kBound > y ? -kBound : y;
  return kBound < y ? kBound : y;
}

// x^y within 1 ULP over the whole range, subnormal arguments and results included; all special
// cases as IEEE 754 has them: 1 at y = 0 and at x = 1 whatever the other is, NaN included; a finite
// x < 0 gives NaN unless y is an integer; -0 and -infinity keep their sign at odd y.
// Thread-safe: depends on nothing but its arguments.
[[nodiscard]] ONEIROS_ALWAYS_INLINE double power(double x, double y) {
  const DoubleParts log = binary_logarithm_parts(magnitude_of(x));
  const double bounded = bounded_exponent(y);
  const double upper = upper_half(bounded);
  const DoubleParts product{upper * log.high, (bounded - upper) * log.high + bounded * log.low};
  return power_or_edge(x, y, binary_exponential_of_parts(product));
}

// The same for floats, computed in double: within 0.501 ULP.
[[nodiscard]] ONEIROS_ALWAYS_INLINE float power(float x, float y) {
  constexpr double kFarthest = 200.0;
  const double log = binary_logarithm_for_float(magnitude_of(static_cast<double>(x)));
  double product = bounded_exponent(static_cast<double>(y)) * log;
  product = -kFarthest > product ? -kFarthest : product;
  product = kFarthest < product ? kFarthest : product;
  return power_or_edge(x, y, static_cast<float>(binary_exponential_for_float(product)));
}

}  // namespace oneiros
