#include "simd/logarithm.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "ulps.h"

namespace {

using oneiros::binary_logarithm;
using oneiros::binary_logarithm_of_one_plus;
using oneiros::logarithm_of_one_plus;
using oneiros::natural_logarithm;
using oneiros::testing::error_in_ulps;
using oneiros::testing::WorstError;

// A third over all exponents, a third around 1, a third ever closer to 1.
template <typename Real>
Real positive(std::mt19937_64& random, int i) {
  using Limits = std::numeric_limits<Real>;
  std::uniform_real_distribution<Real> mantissa(1, 2);
  if (i % 3 == 0) {
    std::uniform_int_distribution<int> exponent(Limits::min_exponent - Limits::digits,
                                                Limits::max_exponent - 1);
    return std::ldexp(mantissa(random), exponent(random));
  }
  if (i % 3 == 1) {
    return mantissa(random) * mantissa(random) / 2;
  }
  std::uniform_int_distribution<int> exponent(-Limits::digits, -1);
  return 1 + std::ldexp(mantissa(random) - Real(1.5), exponent(random));
}

template <typename Real>
void check_errors() {
  std::mt19937_64 random(7);
  WorstError natural;
  WorstError binary;
  WorstError one_plus;
  WorstError binary_one_plus;
  for (int i = 0; i < 300'000; ++i) {
    const Real x = positive<Real>(random, i);
    const auto exact = static_cast<long double>(x);
    natural.see(error_in_ulps(natural_logarithm(x), std::log(exact)), x);
    binary.see(error_in_ulps(binary_logarithm(x), std::log2(exact)), x);
    const Real shifted = i % 3 == 0 ? (i % 2 == 0 ? x : -std::fmod(x, Real(1))) : x - 1;
    const long double want = std::log1p(static_cast<long double>(shifted));
    one_plus.see(error_in_ulps(logarithm_of_one_plus(shifted), want), shifted);
    if (std::abs(shifted) > std::numeric_limits<Real>::min()) {
      const long double in_bits = want / std::numbers::ln2_v<long double>;
      binary_one_plus.see(error_in_ulps(binary_logarithm_of_one_plus(shifted), in_bits), shifted);
    }
  }
  CAPTURE(natural.x);
  CHECK(natural.ulps < 1.0);
  CAPTURE(binary.x);
  CHECK(binary.ulps < 1.5);
  CAPTURE(one_plus.x);
  CHECK(one_plus.ulps < 1.0);
  CAPTURE(binary_one_plus.x);
  CHECK(binary_one_plus.ulps < 1.5);
}

}  // namespace

TEST_CASE("logarithms: within 1 ULP, the binary one within 1.5, subnormals included") {
  check_errors<double>();
  check_errors<float>();
}

TEST_CASE_TEMPLATE("logarithms: 0 at 1, infinite at the ends, NaN below", Real, float, double) {
  const Real inf = std::numeric_limits<Real>::infinity();
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const auto log :
       {+[](Real x) { return natural_logarithm(x); }, +[](Real x) { return binary_logarithm(x); },
        +[](Real x) { return logarithm_of_one_plus(x - 1); }}) {
    CHECK(log(Real(1)) == 0);
    CHECK(log(Real(0)) == -inf);
    CHECK(log(Real(-0.0)) == -inf);
    CHECK(log(inf) == inf);
    CHECK(std::isnan(log(-inf)));
    CHECK(std::isnan(log(Real(-1))));
    CHECK(std::isnan(log(nan)));
    CHECK(std::isnan(log(-nan)));
  }
  CHECK(std::isnan(natural_logarithm(-std::numeric_limits<Real>::denorm_min())));
  CHECK(std::isfinite(natural_logarithm(std::numeric_limits<Real>::denorm_min())));
  CHECK(std::isfinite(logarithm_of_one_plus(std::numeric_limits<Real>::max())));
}

TEST_CASE_TEMPLATE("logarithm_of_one_plus: what is too small for the sum comes back", Real, float,
                   double) {
  for (const Real x :
       {Real(0), Real(-0.0), std::numeric_limits<Real>::denorm_min(),
        -std::numeric_limits<Real>::min(), std::numeric_limits<Real>::epsilon() / 8}) {
    CHECK(logarithm_of_one_plus(x) == x);
    CHECK(std::signbit(logarithm_of_one_plus(x)) == std::signbit(x));
  }
}

TEST_CASE_TEMPLATE("binary_logarithm: exact at every power of two, of one plus something too", Real,
                   float, double) {
  using Limits = std::numeric_limits<Real>;
  for (int power = Limits::min_exponent - Limits::digits; power < Limits::max_exponent; ++power) {
    REQUIRE(binary_logarithm(std::ldexp(Real(1), power)) == Real(power));
    if (power > -Limits::digits) {
      REQUIRE(binary_logarithm_of_one_plus(std::ldexp(Real(1), power) - 1) == Real(power));
    }
  }
}

TEST_CASE("binary_logarithm: never falls over the counts up to a million") {
  double before = -1.0;
  for (int count = 1; count <= 1'000'000; ++count) {
    const double got = binary_logarithm(static_cast<double>(count));
    REQUIRE(got > before);
    before = got;
  }
}
