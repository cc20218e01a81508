// Worked values and odd inputs of the kernels of docs/systems; their laws stand in the Python
// tests.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "one_kernel.h"

namespace {

using oneiros::KernelParameters;
using oneiros::value_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kMillionYears = 365.25e6;

const KernelParameters kTimeDecay{{"boost", {0.3}}, {"tau_days", {30.0}}};
const KernelParameters kDepths{{"table", {0.8, 1.0, 1.2}}};
const KernelParameters kCiar{{"rate", {0.0231}}, {"reinforcement", {0.1}}, {"clamp", {1.0}}};

double stability(double age_days, double given) {
  return value_of("stability_boost", {{"tau_days", {30.0}}, {"low", {0.1}}, {"high", {3.0}}},
                  {age_days, given});
}

double retention(double days, double given, double importance, double category, double model = 0) {
  return value_of("retention",
                  {{"model", {model}},
                   {"beta_days", {45.0, 120.0, kInf, 120.0}},
                   {"floors", {0.02, 0.02, 0.02, 0.6}}},
                  {days, given, importance, category});
}

}  // namespace

TEST_CASE_TEMPLATE("time_decay_boost: worked values and odd inputs", Real, float, double) {
  const auto boost = [](double age) {
    return value_of<Real>("time_decay_boost", kTimeDecay, {age});
  };
  CHECK(boost(0) == Real(1) + Real(0.3));
  CHECK(boost(30) == doctest::Approx(1 + 0.3 * std::exp(-1.0)).epsilon(1e-6));
  CHECK(boost(-1) == boost(0));
  CHECK(boost(kNan) == 1);
  CHECK(boost(kInf) == 1);
  CHECK(boost(kMillionYears) == 1);
}

TEST_CASE("a parameter out of its range is refused") {
  CHECK_THROWS_WITH_AS(value_of("time_decay_boost", {{"boost", {0.3}}, {"tau_days", {0.0}}}, {1.0}),
                       "tau_days: must be > 0 and finite, got 0", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      value_of("time_decay_boost", {{"boost", {kNan}}, {"tau_days", {30.0}}}, {1.0}),
      "boost: must be in [0, 1e6], got nan", std::invalid_argument);
  CHECK_THROWS_WITH_AS(value_of("depth_weight", {{"table", {0.8, -1.0, 1.2}}}, {1.0}),
                       "table: must be in [0, 1e6], got -1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(value_of("depth_weight", {{"table", {0.8, 1.0}}}, {1.0}),
                       "table: expected 3 numbers, got 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      value_of("ciar", {{"rate", {1.0}}, {"reinforcement", {0.1}}, {"clamp", {1.0}}},
               {1.0, 1.0, 1.0, 1.0}),
      "rate: must be > 0 and < 1, got 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      value_of("ciar", {{"rate", {0.1}}, {"reinforcement", {0.1}}, {"clamp", {0.5}}},
               {1.0, 1.0, 1.0, 1.0}),
      "clamp: must be 0 or 1, got 0.5", std::invalid_argument);
}

TEST_CASE("a parameter that a float cannot hold becomes the nearest that is allowed") {
  const KernelParameters brief{{"boost", {0.5}}, {"tau_days", {1e-300}}};
  CHECK(value_of<float>("time_decay_boost", brief, {0.0}) == 1.5F);
  CHECK(value_of<float>("time_decay_boost", brief, {1.0}) == 1.0F);
  const KernelParameters large{{"low", {-1e300}}, {"high", {1e300}}};
  CHECK(value_of<float>("clip", large, {kInf}) == std::numeric_limits<float>::max());
}

TEST_CASE_TEMPLATE("depth_weight: the published table, other depths refused", Real, float, double) {
  CHECK(value_of<Real>("depth_weight", kDepths, {1.0}) == Real(0.8));
  CHECK(value_of<Real>("depth_weight", kDepths, {2.0}) == 1);
  CHECK(value_of<Real>("depth_weight", kDepths, {3.0}) == Real(1.2));
  CHECK(std::isnan(value_of<Real>("depth_weight", kDepths, {kNan})));
  for (const double depth : {0.0, 4.0, 1.5, -1.0, kInf}) {
    CHECK_THROWS_AS(value_of<Real>("depth_weight", kDepths, {depth}), std::invalid_argument);
  }
}

TEST_CASE_TEMPLATE("spread_weight: exactly 1 at one session, capped", Real, float, double) {
  const auto weight = [](double spread, double cap) {
    return value_of<Real>("spread_weight", {{"cap", {cap}}}, {spread});
  };
  CHECK(weight(1, kInf) == 1);
  CHECK(weight(3, kInf) == 2);
  CHECK(weight(100, kInf) == doctest::Approx(std::log(101.0) / std::log(2.0)).epsilon(1e-6));
  CHECK(weight(0, kInf) == 0);
  CHECK(weight(1, 3) == 1);
  CHECK(weight(100, 3) == 3);
  CHECK(std::isnan(weight(kNan, 3)));
  CHECK_THROWS_WITH_AS(weight(-1, 3), "session_spread: must be finite and >= 0, got -1",
                       std::invalid_argument);
  CHECK_THROWS_AS(weight(1, 0), std::invalid_argument);
  CHECK_THROWS_AS(weight(1, kNan), std::invalid_argument);
}

TEST_CASE("stability_boost: exactly 1 at stability 1 for every age, and at age 0") {
  for (const double age : {0.0, 1e-300, 0.1, 30.0, 1e6, kMillionYears, 1e300, kInf, -5.0}) {
    CHECK(stability(age, 1.0) == 1.0);
  }
  for (const double given : {kLeast, 1e-300, 0.5, 2.0, 1e300, kInf}) {
    CHECK(stability(0.0, given) == 1.0);
    CHECK(stability(-3.0, given) == 1.0);
  }
  CHECK(stability(kLeast, kLeast) == 1.0);  // the age over tau is 0
}

TEST_CASE("stability_boost: ages of a million years reach the clamps, never NaN") {
  for (const double age : {kMillionYears, 1e300, kInf}) {
    CHECK(stability(age, 2.0) == 3.0);
    CHECK(stability(age, kInf) == 3.0);
    CHECK(stability(age, 0.5) == 0.1);
    CHECK(stability(age, kLeast) == 0.1);
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

TEST_CASE_TEMPLATE("scan_priority: worked values and odd inputs", Real, float, double) {
  const auto priority = [](double hours, double uses, double importance, double overlap) {
    return value_of<Real>("scan_priority", {{"half_life_hours", {168.0}}, {"access_floor", {0.1}}},
                          {hours, uses, importance, overlap});
  };
  CHECK(priority(168, 0, 1, 0.5) == doctest::Approx(0.025).epsilon(1e-6));
  CHECK(priority(-1, 2, 0.5, 0) == doctest::Approx(0.5 * std::log(3.0)).epsilon(1e-6));
  CHECK(priority(0, 7, 1, 1) == 0);
  CHECK(priority(kInf, 7, 1, 0) == 0);
  CHECK(std::isnan(priority(kNan, 7, 1, 0)));
  CHECK(std::isnan(priority(0, kNan, 1, 0)));
  CHECK_THROWS_AS(priority(0, -1, 1, 0), std::invalid_argument);
}

TEST_CASE_TEMPLATE("downscale: worked values and odd inputs", Real, float, double) {
  const auto downscale = [](double strength, double rate) {
    return value_of<Real>("downscale", {{"floor", {0.01}}}, {strength, rate});
  };
  CHECK(downscale(1, 0.5) == Real(0.5));
  CHECK(downscale(0.0101, 0.95) == Real(0.01));
  CHECK(downscale(0.005, 0.95) == Real(0.005));  // never raised
  CHECK(downscale(0, 0) == 0);
  CHECK(std::isnan(downscale(kNan, 0.95)));
  CHECK(std::isnan(downscale(1, kNan)));
}

TEST_CASE_TEMPLATE("staleness: worked values and odd inputs", Real, float, double) {
  const auto staleness = [](double idle, double limit) {
    return value_of<Real>("staleness", {}, {idle, limit});
  };
  CHECK(staleness(49, 49) == 1);
  CHECK(staleness(45, 30) == Real(1.5));
  CHECK(staleness(-3, 30) == 0);
  CHECK(staleness(kInf, 30) == static_cast<Real>(kInf));
  CHECK(staleness(400, kInf) == 0);
  CHECK(staleness(kInf, kInf) == 0);
  CHECK(std::isnan(staleness(kNan, kInf)));
  CHECK(std::isnan(staleness(1, kNan)));
  CHECK_THROWS_AS(staleness(1, 0), std::invalid_argument);
}

TEST_CASE_TEMPLATE("signal: worked values and odd inputs", Real, float, double) {
  const auto signal = [](double accesses, double days, double revisions, double weight) {
    return value_of<Real>("signal", {}, {accesses, days, revisions, weight});
  };
  CHECK(signal(6, 3, 1, 0.5) == 2);
  CHECK(signal(0, 0, 5, 1) == 0);
  CHECK(signal(1, 0, 0, 0) == 0);
  CHECK(signal(1, -2, 0, 1) == static_cast<Real>(kInf));
  CHECK(std::isnan(signal(0, kNan, 0, 1)));
  CHECK(std::isnan(signal(1, 1, 1, kNan)));
}

TEST_CASE_TEMPLATE("replay_delta: worked values and odd inputs", Real, float, double) {
  const auto delta = [](double peers, double hours) {
    return value_of<Real>("replay_delta", {{"max_delta", {0.1}}}, {peers, hours});
  };
  CHECK(delta(0, 0) == 0);
  CHECK(delta(1, 0) == doctest::Approx(0.1 * std::log(2.0)).epsilon(1e-6));
  CHECK(delta(1, 1) == doctest::Approx(0.05 * std::log(2.0)).epsilon(1e-6));
  CHECK(delta(1000, -5) == Real(0.1));
  CHECK(delta(4e9, kInf) == 0);
  CHECK(std::isnan(delta(kNan, 0)));
  CHECK(std::isnan(delta(1, kNan)));
  CHECK_THROWS_AS(delta(-1, 0), std::invalid_argument);
  CHECK_THROWS_AS(delta(kInf, 0), std::invalid_argument);
}

TEST_CASE("retention: worked values and odd inputs") {
  CHECK(retention(45, 1.0, 0.0, 0) == doctest::Approx(std::exp(-1.0)));
  CHECK(retention(120, 1.0, 0.5, 1) == doctest::Approx(std::exp(-0.5)));
  CHECK(retention(45, 1.0, 0.0, 0, 1) == doctest::Approx(std::pow(2.0, -1.4427)));
  for (const double model : {0.0, 1.0}) {
    CHECK(retention(0, 0.0, 0.0, 0, model) == 1.0);
    CHECK(retention(-9, 1.0, 0.0, 0, model) == 1.0);
    CHECK(retention(kInf, 1.0, 0.0, 1, model) == 0.02);
    CHECK(retention(1e9, 1.0, 0.0, 3, model) == 0.6);
    CHECK(retention(kInf, 1.0, 0.0, 2, model) == 1.0);   // procedural stays
    CHECK(retention(kNan, 1.0, 0.0, 2, model) == 0.02);  // no timestamp: the floor
    CHECK(retention(kNan, 1.0, 0.0, 3, model) == 0.6);
    CHECK(std::isnan(retention(1, kNan, 0.0, 0, model)));
    CHECK(std::isnan(retention(1, 1.0, kNan, 0, model)));
    CHECK(std::isnan(retention(1, 1.0, 0.0, kNan, model)));
    CHECK(std::isnan(retention(kNan, 1.0, kNan, 0, model)));
  }
}

TEST_CASE("cognitive kernels: without a timestamp") {
  const KernelParameters spacing{{"span_days", {7.0}}, {"most", {2.0}}};
  CHECK(value_of("spacing_factor", spacing, {kNan}) == 1.0);
  CHECK(value_of("spacing_factor", spacing, {-1.0}) == 0.0);
  CHECK(value_of("spacing_factor", spacing, {3.5}) == 0.5);
  CHECK(value_of("spacing_factor", spacing, {kInf}) == 2.0);
  KernelParameters reinforcing = spacing;
  reinforcing["gain"] = {0.1};
  reinforcing["limit"] = {1.0};
  CHECK(value_of("reinforce_stability", reinforcing, {0.5, kNan}) == 0.6);
  CHECK(value_of("reinforce_stability", reinforcing, {0.95, 70.0}) == 1.0);
  CHECK(value_of("association_decay", {{"tau_days", {90.0}}}, {0.4, kNan}) == 0.4);
  CHECK(value_of("retention_score", {{"alpha", {0.0}}}, {0.5, 0.0}) == 0.5);
  CHECK(std::isnan(value_of("retention_score", {{"alpha", {0.0}}}, {0.5, kNan})));
}

TEST_CASE("mnemosyne kernels: without a timestamp") {
  const KernelParameters blend{{"tau_hours", {168.0}}, {"weight", {0.3}}};
  CHECK(value_of("recency_blend", blend, {0.0}) == 1.0);
  CHECK(value_of("recency_blend", blend, {kNan}) == 0.85);
  CHECK(value_of("recency_blend", blend, {kInf}) == 0.7);
  CHECK(value_of("weibull_retention", {}, {-1.0, 0.5, 10.0}) == 1.0);
  CHECK(std::isnan(value_of("weibull_retention", {}, {kNan, 0.5, 10.0})));
  CHECK(std::isnan(value_of("weibull_retention", {}, {kNan, 0.0, 10.0})));
  CHECK(std::isnan(value_of("weibull_retention", {}, {0.0, 0.0, kNan})));
  for (const double scale : {0.0, -1.0, -kInf}) {
    CHECK_THROWS_WITH_AS(value_of("weibull_retention", {}, {1.0, 0.5, scale}),
                         doctest::Contains("eta_hours: must be > 0"), std::invalid_argument);
  }
}

TEST_CASE("ciar: an endless number of accesses moves no vetoed fact, NaN stays") {
  CHECK(value_of("ciar", kCiar, {0.0, 1.0, 1.0, kInf}) == 0.0);
  CHECK(value_of("ciar", kCiar, {1.0, 0.0, kInf, kInf}) == 0.0);
  CHECK(value_of("ciar", kCiar, {1.0, 1.0, 0.0, kInf}) == 1.0);
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::vector<double>> inputs{{0.0}, {0.5}, {1.0}, {2.0}};
    inputs[i] = {kNan};
    CHECK(std::isnan(oneiros::values_of("ciar", kCiar, inputs)[0]));
  }
}

TEST_CASE("ciar: unclamped, the parts multiplied are the whole, bit for bit") {
  KernelParameters open = kCiar;
  open["clamp"] = {0.0};
  for (const double age : {0.0, 0.7, 13.0, 30.0, 365.0}) {
    const double decay = value_of("ciar_decay", {{"rate", {0.0231}}}, {age});
    const double gain = value_of("ciar_reinforcement", {{"reinforcement", {0.1}}}, {7.0});
    CHECK(value_of("ciar", open, {0.9, 0.83, age, 7.0}) == 0.9 * 0.83 * decay * gain);
  }
}
