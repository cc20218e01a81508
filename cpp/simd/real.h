// The bits of float and double, for functions that are compiled once per SIMD path.
//
// Everything in cpp/simd is always inlined and calls nothing from the standard library: a function
// compiled for AVX-512 in one file and for the baseline in another would be merged by the linker,
// perhaps to the wrong one.
//
// Branches are selections between two values, so that loops vectorise. Nothing is fused,
// reassociated or read from a table, so that every path and machine gives the same bits. REQUIRES:
// -ffp-contract=off -fno-trapping-math, as set in CMakeLists.txt, and rounding to nearest.
#pragma once

#include <concepts>
#include <cstdint>

#define ONEIROS_ALWAYS_INLINE inline __attribute__((always_inline))
#define ONEIROS_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))

namespace oneiros {

// The format of a floating-point type: its mantissa, exponent bias and special values.
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

// The unsigned integer of the same size.
template <std::floating_point Real>
using RealBits = typename RealFormat<Real>::Bits;

// The bits of 1.0, of the mantissa, and of the sign.
template <std::floating_point Real>
inline constexpr RealBits<Real> kOneBits =
    RealFormat<Real>::kBias << RealFormat<Real>::kMantissaBits;
template <std::floating_point Real>
inline constexpr RealBits<Real> kMantissaMask = (RealBits<Real>{1}
                                                 << RealFormat<Real>::kMantissaBits) -
                                                1;
template <std::floating_point Real>
inline constexpr RealBits<Real> kSignBit = RealBits<Real>{1} << (sizeof(Real) * 8 - 1);

// Reinterpretation between a number and its bits.
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

// Adding it to a number of small enough magnitude rounds that to an integer, which is then in the
// low bits, in two's complement.
template <std::floating_point Real>
inline constexpr Real kRounder = Real(3) *
                                 static_cast<Real>(RealBits<Real>{1}
                                                   << (RealFormat<Real>::kMantissaBits - 1));

}  // namespace oneiros
