#include "simd/power.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "ulps.h"

namespace {

using oneiros::power;
using oneiros::testing::error_in_ulps;
using oneiros::testing::WorstError;

// Results from below the smallest to above the largest; bases everywhere, also close to 1.
template <typename Real>
WorstError worst_error() {
  using Limits = std::numeric_limits<Real>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<Real> mantissa(1, 2);
  std::uniform_int_distribution<int> any(Limits::min_exponent - Limits::digits,
                                         Limits::max_exponent - 1);
  std::uniform_int_distribution<int> small(-Limits::digits, 0);
  std::uniform_real_distribution<double> result(Limits::min_exponent - Limits::digits - 3,
                                                Limits::max_exponent + 1);
  WorstError worst;
  for (int i = 0; i < 200'000; ++i) {
    const Real x = i % 2 == 0 ? std::ldexp(mantissa(random), any(random))
                              : 1 + std::ldexp(mantissa(random) - Real(1.5), small(random));
    const double log = std::log2(static_cast<double>(x));
    const Real y =
        static_cast<Real>(i % 5 == 0 || log == 0 ? result(random) / 300 : result(random) / log);
    const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    worst.see(error_in_ulps(power(x, y), want), x, y);
  }
  return worst;
}

}  // namespace

TEST_CASE("power: within 1 ULP over the whole range") {
  const WorstError of_double = worst_error<double>();
  CAPTURE(of_double.x);
  CAPTURE(of_double.y);
  CHECK(of_double.ulps < 1.0);
  const WorstError of_float = worst_error<float>();
  CAPTURE(of_float.x);
  CAPTURE(of_float.y);
  CHECK(of_float.ulps < 0.51);
}

TEST_CASE_TEMPLATE("power: each pair of odd arguments as IEEE 754 has it", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  // The last integers that can be odd, the first that cannot, and halves where they end.
  const Real odd = std::ldexp(Real(1), Limits::digits) - 1;
  const std::array<Real, 24> values{Real(0),
                                    Real(1),
                                    Real(2),
                                    Real(3),
                                    Real(0.5),
                                    Real(1.5),
                                    Real(1) / 3,
                                    Real(1e10),
                                    odd,
                                    odd + 1,
                                    odd + 3,
                                    odd / 2,
                                    (odd - 1) / 2,
                                    1 + Limits::epsilon(),
                                    1 - Limits::epsilon() / 2,
                                    Limits::min(),
                                    Limits::min() / 4,
                                    Limits::denorm_min(),
                                    Limits::max(),
                                    Limits::max() / 2,
                                    Limits::infinity(),
                                    Limits::quiet_NaN(),
                                    Real(1e-30),
                                    Real(0.1)};
  for (const Real x : values) {
    for (const Real y : values) {
      for (const auto& [a, b] : {std::array{x, y}, {x, -y}, {-x, y}, {-x, -y}}) {
        CAPTURE(a);
        CAPTURE(b);
        const Real got = power(a, b);
        const auto want = std::pow(static_cast<long double>(a), static_cast<long double>(b));
        REQUIRE(error_in_ulps(got, want) < 1.0);
        REQUIRE((std::isnan(got) || std::signbit(got) == std::signbit(want)));
        REQUIRE(std::isinf(got) == std::isinf(static_cast<Real>(want)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("power: squares, cubes and roots that a Real holds are exact", Real, float,
                   double) {
  for (int i = 1; i <= 200; ++i) {
    const Real x = Real(i);
    REQUIRE(power(x, Real(1)) == x);
    REQUIRE(power(x, Real(2)) == x * x);
    REQUIRE(power(-x, Real(3)) == -x * x * x);
    REQUIRE(power(x * x, Real(0.5)) == x);
  }
}
