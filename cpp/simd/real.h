// The bits of a float or a double, for functions that are compiled once for each SIMD path.
//
// Whatever such a function calls must vanish into it: a function of its own, compiled for AVX-512
// in one file and for the baseline in another, would be kept once, and perhaps the wrong one. So
// all in cpp/simd is always inlined, and calls nothing of the standard library, which need not be.
//
// Every branch is a choice between two values, so that a loop becomes SIMD; nothing is fused,
// reassociated or read from a table, so that every path and every machine gives the same bits.
// REQUIRES: -ffp-contract=off -fno-trapping-math, as CMakeLists.txt sets them, and rounding to
// nearest.
#pragma once

#include <concepts>
#include <cstdint>

#define ONEIROS_ALWAYS_INLINE inline __attribute__((always_inline))
#define ONEIROS_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))

namespace oneiros {

template <std::floating_point Real>
struct RealFormat;

template <>
struct RealFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kSmallestNormal = 0x1p-1022;
  static constexpr double kInfinity = __builtin_inf();
  static constexpr double kNotANumber = __builtin_nan("");
};

template <>
struct RealFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kSmallestNormal = 0x1p-126F;
  static constexpr float kInfinity = __builtin_inff();
  static constexpr float kNotANumber = __builtin_nanf("");
};

template <std::floating_point Real>
using RealBits = typename RealFormat<Real>::Bits;

// The bits of 1.0; those of its mantissa alone; the sign's.
template <std::floating_point Real>
inline constexpr RealBits<Real> kOneBits =
    RealFormat<Real>::kBias << RealFormat<Real>::kMantissaBits;
template <std::floating_point Real>
inline constexpr RealBits<Real> kMantissaMask = (RealBits<Real>{1}
                                                 << RealFormat<Real>::kMantissaBits) -
                                                1;
template <std::floating_point Real>
inline constexpr RealBits<Real> kSignBit = RealBits<Real>{1} << (sizeof(Real) * 8 - 1);

template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE RealBits<Real> bits_of(Real x) {
  return __builtin_bit_cast(RealBits<Real>, x);
}

template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real real_of(RealBits<Real> bits) {
  return __builtin_bit_cast(Real, bits);
}

// |x|; NaN stays NaN.
template <std::floating_point Real>
[[nodiscard]] ONEIROS_ALWAYS_INLINE Real magnitude_of(Real x) {
  return real_of<Real>(bits_of(x) & ~kSignBit<Real>);
}

// Adding it to a number of small enough magnitude rounds to an integer, which then stands in the
// low bits (in two's complement).
template <std::floating_point Real>
inline constexpr Real kRounder = Real(3) *
                                 static_cast<Real>(RealBits<Real>{1}
                                                   << (RealFormat<Real>::kMantissaBits - 1));

}  // namespace oneiros
