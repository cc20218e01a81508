// The kernels of docs/systems/reverie.md: worked values, odd inputs, refusals.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "ranking/ages.h"
#include "ranking/depth_weight.h"
#include "ranking/spread_weight.h"
#include "ranking/stability_boost.h"
#include "ranking/time_decay_boost.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMillionYears = 365.25e6;

double stability(double age_days, double given) {
  std::array<double, 1> ages{age_days};
  std::array<double, 1> factor{given};
  oneiros::stability_boost<double>(ages, factor, 30.0, 0.1, 3.0, factor);  // in place
  return factor[0];
}

}  // namespace

TEST_CASE("ages_in_days: a clock ahead counts as 0, no time stays none") {
  std::array<double, 3> times{0.0, 2 * 86'400.0, kNan};
  oneiros::ages_in_days(times, 86'400.0, times);
  CHECK(times[0] == 1.0);
  CHECK(times[1] == 0.0);
  CHECK(std::isnan(times[2]));
}

TEST_CASE_TEMPLATE("time_decay_boost: worked values and odd inputs", Real, float, double) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Real inf = std::numeric_limits<Real>::infinity();
  std::array<Real, 6> ages{0, 30, -1, nan, inf, Real(kMillionYears)};
  oneiros::time_decay_boost<Real>(ages, Real(0.3), Real(30), ages);  // in place
  CHECK(ages[0] == Real(1) + Real(0.3));
  CHECK(ages[1] == doctest::Approx(1 + 0.3 * std::exp(-1.0)).epsilon(1e-6));
  CHECK(ages[2] == ages[0]);
  CHECK(ages[3] == 1);
  CHECK(ages[4] == 1);
  CHECK(ages[5] == 1);
}

TEST_CASE("time_decay_boost: refuses parameters out of range") {
  CHECK_THROWS_WITH_AS(oneiros::time_decay_boost<double>({}, 0.3, 0.0, {}),
                       "tau_days: must be finite and > 0, got 0", std::invalid_argument);
  CHECK_THROWS_WITH_AS(oneiros::time_decay_boost<double>({}, kNan, 30.0, {}),
                       "boost: must be in [0, 1e6], got nan", std::invalid_argument);
}

TEST_CASE_TEMPLATE("depth_weight: the published table, NaN stays", Real, float, double) {
  std::array<Real, 4> depth{1, 2, 3, std::numeric_limits<Real>::quiet_NaN()};
  oneiros::depth_weight<Real>(depth, {Real(0.8), Real(1.0), Real(1.2)}, depth);
  CHECK(depth[0] == Real(0.8));
  CHECK(depth[1] == 1);
  CHECK(depth[2] == Real(1.2));
  CHECK(std::isnan(depth[3]));
}

TEST_CASE("depth_weight: another depth is refused before anything is written") {
  for (const double depth : {0.0, 4.0, 1.5, -1.0, kInf}) {
    std::array<double, 2> values{1.0, depth};
    CHECK_THROWS_AS(oneiros::depth_weight<double>(values, {0.8, 1.0, 1.2}, values),
                    std::invalid_argument);
    CHECK(values[0] == 1.0);
  }
  CHECK_THROWS_WITH_AS(oneiros::depth_weight<double>({}, {0.8, -1.0, 1.2}, {}),
                       "table: must be in [0, 1e6], got -1", std::invalid_argument);
}

TEST_CASE_TEMPLATE("spread_weight: exactly 1 at one session, capped", Real, float, double) {
  std::array<Real, 5> spread{1, 3, 100, 0, std::numeric_limits<Real>::quiet_NaN()};
  std::array<Real, 5> factor{};
  oneiros::spread_weight<Real>(spread, std::numeric_limits<Real>::infinity(), factor);
  CHECK(factor[0] == 1);
  CHECK(factor[1] == 2);
  CHECK(factor[2] == doctest::Approx(std::log(101.0) / std::log(2.0)).epsilon(1e-6));
  CHECK(factor[3] == 0);
  CHECK(std::isnan(factor[4]));
  oneiros::spread_weight<Real>(spread, Real(3), factor);
  CHECK(factor[0] == 1);
  CHECK(factor[2] == 3);
}

TEST_CASE("spread_weight: refuses counts and caps out of range") {
  const std::array<double, 1> bad{-1.0};
  std::array<double, 1> factor{};
  CHECK_THROWS_WITH_AS(oneiros::spread_weight<double>(bad, 3.0, factor),
                       "session_spread: must be finite and >= 0, got -1", std::invalid_argument);
  CHECK_THROWS_AS(oneiros::spread_weight<double>({}, 0.0, {}), std::invalid_argument);
  CHECK_THROWS_AS(oneiros::spread_weight<double>({}, kNan, {}), std::invalid_argument);
}

TEST_CASE("stability_boost: exactly 1 at stability 1 for every age") {
  for (const double age : {0.0, 1e-300, 0.1, 30.0, 1e6, kMillionYears, 1e300, kInf, -5.0}) {
    CHECK(stability(age, 1.0) == 1.0);
  }
}

TEST_CASE("stability_boost: exactly 1 at age 0 for every stability above 0") {
  const double least = std::numeric_limits<double>::denorm_min();
  for (const double given : {least, 1e-300, 0.5, 2.0, 1e300, kInf}) {
    CHECK(stability(0.0, given) == 1.0);
    CHECK(stability(-3.0, given) == 1.0);
  }
  CHECK(stability(least, least) == 1.0);  // the age over tau is 0
}

TEST_CASE("stability_boost: ages of a million years reach the clamps, never NaN") {
  for (const double age : {kMillionYears, 1e300, kInf}) {
    CHECK(stability(age, 2.0) == 3.0);
    CHECK(stability(age, kInf) == 3.0);
    CHECK(stability(age, 0.5) == 0.1);
    CHECK(stability(age, std::numeric_limits<double>::denorm_min()) == 0.1);
  }
}

TEST_CASE("stability_boost: odd inputs") {
  CHECK(stability(10.0, 0.0) == 0.1);
  CHECK(stability(10.0, -0.0) == 0.1);
  CHECK(stability(0.0, -1.0) == 0.1);
  CHECK(stability(10.0, -kInf) == 0.1);
  CHECK(stability(kNan, 2.0) == 1.0);
  CHECK(std::isnan(stability(10.0, kNan)));
  CHECK(stability(30.0, 2.0) == doctest::Approx(std::exp(0.5)));
}

TEST_CASE("stability_boost: refuses parameters out of range") {
  const auto with = [](double tau, double low, double high) {
    oneiros::stability_boost<double>({}, {}, tau, low, high, {});
  };
  CHECK_THROWS_WITH_AS(with(30.0, 3.0, 0.1), "low: must be <= high, got 3", std::invalid_argument);
  CHECK_THROWS_AS(with(-1.0, 0.1, 3.0), std::invalid_argument);
  CHECK_THROWS_AS(with(30.0, -0.1, 3.0), std::invalid_argument);
  CHECK_THROWS_AS(with(30.0, 0.1, kInf), std::invalid_argument);
}
