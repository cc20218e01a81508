#include "simd/exponential.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ulps.h"

namespace {

using oneiros::exponential;
using oneiros::testing::error_in_ulps;
using oneiros::testing::WorstError;

template <typename Real>
WorstError worst_error(Real lowest, Real highest) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<Real> exponent(lowest, highest);
  std::uniform_real_distribution<Real> small(-1, 1);
  WorstError worst;
  for (int i = 0; i < 200'000; ++i) {
    const Real x = i % 2 == 0 ? exponent(random) : small(random);
    worst.see(error_in_ulps(exponential(x), std::exp(static_cast<long double>(x))), x);
  }
  return worst;
}

}  // namespace

TEST_CASE_TEMPLATE("exponential: exact where it must be", Real, float, double) {
  const Real inf = std::numeric_limits<Real>::infinity();
  CHECK(exponential(Real(0)) == 1);
  CHECK(exponential(Real(-0.0)) == 1);
  CHECK(exponential(std::numeric_limits<Real>::denorm_min()) == 1);
  CHECK(exponential(inf) == inf);
  CHECK(exponential(-inf) == 0);
  CHECK(exponential(std::numeric_limits<Real>::max()) == inf);
  CHECK(exponential(std::numeric_limits<Real>::lowest()) == 0);
  CHECK(std::isnan(exponential(std::numeric_limits<Real>::quiet_NaN())));
}

TEST_CASE("exponential: within 1 ULP from the subnormal results to the largest") {
  const WorstError of_double = worst_error(-746.0, 709.79);
  CAPTURE(of_double.x);
  CHECK(of_double.ulps < 1.0);
  const WorstError of_float = worst_error(-105.0F, 88.73F);
  CAPTURE(of_float.x);
  CHECK(of_float.ulps < 1.0);
}

TEST_CASE("exponential: ends where the exact function does") {
  CHECK(exponential(-745.13) == std::numeric_limits<double>::denorm_min());
  CHECK(exponential(-745.14) == 0.0);
  CHECK(std::isfinite(exponential(709.78)));
  CHECK(std::isinf(exponential(709.79)));
  CHECK(exponential(-103.97F) == std::numeric_limits<float>::denorm_min());
  CHECK(exponential(-103.98F) == 0.0F);
  CHECK(std::isfinite(exponential(88.72F)));
  CHECK(std::isinf(exponential(88.73F)));
}
