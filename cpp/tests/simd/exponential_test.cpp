#include "simd/exponential.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ulps.h"

namespace {

using oneiros::binary_exponential;
using oneiros::exponential;
using oneiros::testing::error_in_ulps;
using oneiros::testing::WorstError;

// Worst errors over [lowest, highest], every other argument in [-1, 1].
template <typename Real, typename Function, typename Exact>
WorstError worst_error(Function function, Exact exact, Real lowest, Real highest) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<Real> exponent(lowest, highest);
  std::uniform_real_distribution<Real> small(-1, 1);
  WorstError worst;
  for (int i = 0; i < 200'000; ++i) {
    const Real x = i % 2 == 0 ? exponent(random) : small(random);
    worst.see(error_in_ulps(function(x), exact(static_cast<long double>(x))), x);
  }
  return worst;
}

const auto natural = [](auto x) { return exponential(x); };
const auto binary = [](auto x) { return binary_exponential(x); };
const auto exact_natural = [](long double x) { return std::exp(x); };
const auto exact_binary = [](long double x) { return std::exp2(x); };

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

TEST_CASE("exponentials: within 1 ULP from the subnormal results to the largest") {
  for (const WorstError& worst : {worst_error(natural, exact_natural, -746.0, 709.79),
                                  worst_error(natural, exact_natural, -105.0F, 88.73F),
                                  worst_error(binary, exact_binary, -1076.0, 1024.0),
                                  worst_error(binary, exact_binary, -151.0F, 128.0F)}) {
    CAPTURE(worst.x);
    CHECK(worst.ulps < 1.0);
  }
}

TEST_CASE_TEMPLATE("binary_exponential: exact at integers, 0 and infinity beyond them", Real, float,
                   double) {
  using Limits = std::numeric_limits<Real>;
  constexpr int kLowest = Limits::min_exponent - Limits::digits;
  for (int power = kLowest; power < Limits::max_exponent; ++power) {
    REQUIRE(binary_exponential(Real(power)) == std::ldexp(Real(1), power));
  }
  CHECK(binary_exponential(Real(kLowest - 1)) == 0);
  CHECK(binary_exponential(Real(Limits::max_exponent)) == Limits::infinity());
  CHECK(binary_exponential(-Limits::infinity()) == 0);
  CHECK(binary_exponential(Limits::infinity()) == Limits::infinity());
  CHECK(std::isnan(binary_exponential(Limits::quiet_NaN())));
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

TEST_CASE_TEMPLATE("decay: the bits of the exponential of -x, and 1 below 0", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<Real> some(0, sizeof(Real) == 4 ? Real(110) : Real(760));
  for (int i = 0; i < 200'000; ++i) {
    const Real x = i % 2 == 0 ? some(random) : some(random) / Real(1000);
    CHECK(oneiros::decay(x) == exponential(-x));
  }
  for (const Real x : {Real(0), Limits::denorm_min(), Limits::max(), Limits::infinity()}) {
    CHECK(oneiros::decay(x) == exponential(-x));
    CHECK(oneiros::decay(-x) == 1);
  }
  CHECK(std::isnan(oneiros::decay(Limits::quiet_NaN())));
  // NaN stays NaN whatever it carries in the bits that elsewhere hold an exponent.
  for (oneiros::RealBits<Real> payload = 1; payload < 0x1000; payload += 7) {
    const auto bits = oneiros::bits_of(Limits::quiet_NaN()) | payload;
    CHECK(std::isnan(oneiros::decay(oneiros::real_of<Real>(bits))));
  }
}
