#include "ranking/logarithm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

template <typename Real>
double error_in_ulps(Real got, long double want) {
  const Real near = static_cast<Real>(want);
  const Real unit = std::nextafter(near, std::numeric_limits<Real>::infinity()) - near;
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             static_cast<long double>(unit));
}

template <typename Real>
double worst_error(Real highest_exponent) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<Real> exponent(0, highest_exponent);
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    // Every other one close to 1, where the logarithm itself is small.
    const Real x = std::exp2(i % 2 == 0 ? exponent(random) : exponent(random) / 500);
    const auto exact = static_cast<long double>(x);
    worst = std::max(worst, error_in_ulps(oneiros::natural_logarithm(x), std::log(exact)));
    worst = std::max(worst, error_in_ulps(oneiros::binary_logarithm(x), std::log2(exact)));
  }
  return worst;
}

}  // namespace

TEST_CASE("logarithms: within 2 ULP from 1 to the end of the range") {
  CHECK(worst_error<double>(1023.0) < 2.0);
  CHECK(worst_error<float>(127.0F) < 2.0);
}

TEST_CASE_TEMPLATE("logarithms: exact at powers of two, 0 at 1, NaN at NaN", Real, float, double) {
  for (int power = 0; power < std::numeric_limits<Real>::max_exponent; ++power) {
    REQUIRE(oneiros::binary_logarithm(std::ldexp(Real(1), power)) == Real(power));
  }
  CHECK(oneiros::natural_logarithm(Real(1)) == 0);
  CHECK(std::isnan(oneiros::natural_logarithm(std::numeric_limits<Real>::quiet_NaN())));
  CHECK(std::isnan(oneiros::binary_logarithm(std::numeric_limits<Real>::quiet_NaN())));
}

TEST_CASE("logarithms: every count up to a million is within 2 ULP and never falls") {
  double before = -1.0;
  for (int count = 1; count <= 1'000'000; ++count) {
    const double got = oneiros::binary_logarithm(static_cast<double>(count));
    REQUIRE(got > before);
    REQUIRE(error_in_ulps(got, std::log2(static_cast<long double>(count))) < 2.0);
    before = got;
  }
}
