#include "ranking/exponential.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace {

// The distance of `got` from e^x in units in the last place of the result.
template <typename Real>
double error_in_ulps(Real x) {
  const long double want = std::exp(static_cast<long double>(x));
  const Real got = oneiros::exponential(x);
  const Real near = static_cast<Real>(want);
  const Real unit = std::nextafter(near, std::numeric_limits<Real>::infinity()) - near;
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             static_cast<long double>(unit));
}

}  // namespace

TEST_CASE_TEMPLATE("exponential: exact where it must be", Real, float, double) {
  const Real inf = std::numeric_limits<Real>::infinity();
  CHECK(oneiros::exponential(Real(0)) == 1);
  CHECK(oneiros::exponential(Real(-0.0)) == 1);
  CHECK(oneiros::exponential(inf) == inf);
  CHECK(oneiros::exponential(-inf) == 0);
  CHECK(oneiros::exponential(std::numeric_limits<Real>::max()) == inf);
  CHECK(oneiros::exponential(std::numeric_limits<Real>::lowest()) == 0);
  CHECK(std::isnan(oneiros::exponential(std::numeric_limits<Real>::quiet_NaN())));
}

TEST_CASE("exponential: within 2 ULP over the normal results of a double") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-708.0, 709.0);
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    worst = std::max(worst, error_in_ulps(exponent(random)));
    worst = std::max(worst, error_in_ulps(exponent(random) / 700.0));
  }
  CHECK(worst < 2.0);
}

TEST_CASE("exponential: within 2 ULP over the normal results of a float") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-87.0F, 88.5F);
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    worst = std::max(worst, error_in_ulps(exponent(random)));
    worst = std::max(worst, error_in_ulps(exponent(random) / 80.0F));
  }
  CHECK(worst < 2.0);
}

TEST_CASE("exponential: passes through the subnormals to 0, and to infinity at the top") {
  CHECK(oneiros::exponential(-745.0) == std::exp(-745.0));
  CHECK(oneiros::exponential(-746.0) == 0.0);
  CHECK(oneiros::exponential(-720.0) == doctest::Approx(std::exp(-720.0)).epsilon(1e-9));
  CHECK(oneiros::exponential(709.7) == doctest::Approx(std::exp(709.7)).epsilon(1e-15));
  CHECK(std::isinf(oneiros::exponential(709.8)));
  CHECK(oneiros::exponential(88.7F) == doctest::Approx(std::exp(88.7F)).epsilon(1e-6));
  CHECK(std::isinf(oneiros::exponential(88.8F)));
}
