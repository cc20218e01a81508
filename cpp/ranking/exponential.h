// exp without branches or tables, so that a loop over it becomes SIMD and every machine gives the
// same bits (a C library's exp depends on its version and on the processor).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace oneiros {

template <std::floating_point Real>
struct ExponentialConstants;

template <>
struct ExponentialConstants<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, in the low bits
  static constexpr double kLowest = -746.0;   // below: 0
  static constexpr double kHighest = 710.0;   // above: infinity
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
};

template <>
struct ExponentialConstants<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kRound = 0x1.8p23F;
  static constexpr float kLowest = -105.0F;
  static constexpr float kHighest = 89.0F;
  static constexpr float kLn2High = 0x1.62e4p-1F;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
};

// sum of r^n / n! for |r| <= ln(2) / 2, cut where the rest is below a tenth of a rounding error.
inline double exponential_series(double r) {
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  return 1.0 + (r + r * r * sum);
}

inline float exponential_series(float r) {
  float sum = 1.0F / 5040.0F;
  sum = sum * r + 1.0F / 720.0F;
  sum = sum * r + 1.0F / 120.0F;
  sum = sum * r + 1.0F / 24.0F;
  sum = sum * r + 1.0F / 6.0F;
  sum = sum * r + 0.5F;
  return 1.0F + (r + r * r * sum);
}

// e^x within 2 ULP; exactly 1 at 0, 0 at -infinity, infinity at infinity, NaN at NaN.
// Thread-safe: touches nothing but its argument.
template <std::floating_point Real>
inline Real exponential(Real x) {
  using Constants = ExponentialConstants<Real>;
  using Bits = typename Constants::Bits;
  constexpr Real kLog2E = Real(1.4426950408889634);
  x = x < Constants::kLowest ? Constants::kLowest : x;
  x = x > Constants::kHighest ? Constants::kHighest : x;
  const Real power = (x * kLog2E + Constants::kRound) - Constants::kRound;
  const Real rest = (x - power * Constants::kLn2High) - power * Constants::kLn2Low;
  // 2^power in two halves: one alone would overflow before the result does.
  const Real half = power * Real(0.5) + Constants::kRound;
  const Real other = (power - (half - Constants::kRound)) + Constants::kRound;
  const auto scale = [](Real rounded) {
    const Bits bits = std::bit_cast<Bits>(rounded) + Constants::kBias;
    return std::bit_cast<Real>(bits << Constants::kMantissaBits);
  };
  return exponential_series(rest) * scale(half) * scale(other);
}

}  // namespace oneiros
