// Worked values and odd inputs of the kernels of docs/systems/omega.md and house.md.
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

const KernelParameters kFeedback{
    {"gain", {0.15}}, {"most", {10.0}}, {"loss", {0.2}}, {"floor", {0.2}}};
const KernelParameters kTable{{"otherwise", {1.0}}, {"table", {3.0, 2.5, 2.0}}};

}  // namespace

TEST_CASE_TEMPLATE("lookups: what is no index of the table has the other value", Real, float,
                   double) {
  for (const std::size_t length : {1U, 3U, 16U, 31U, 32U, 200U, 65'536U}) {
    KernelParameters parameters{{"otherwise", {7.0}}, {"table", {}}};
    std::vector<Real> codes{-1, Real(-0.5), Real(0.5), Real(kNan), Real(kInf), Real(-kInf), 1e9F};
    for (std::size_t code = 0; code < length; ++code) {
      parameters["table"].push_back(static_cast<double>(code) + 0.5);
      codes.push_back(static_cast<Real>(code));
    }
    codes.push_back(static_cast<Real>(length));
    const auto values = oneiros::values_of<Real>("lookup", parameters, {codes});
    CHECK(std::isnan(values[3]));
    for (const std::size_t odd : {0U, 1U, 2U, 4U, 5U, 6U}) {
      CHECK(values[odd] == 7);
    }
    for (std::size_t code = 0; code < length; ++code) {
      REQUIRE(values[7 + code] == static_cast<Real>(code) + Real(0.5));
    }
    CHECK(values.back() == 7);
  }
  CHECK(value_of<Real>("lookup", {{"otherwise", {7.0}}, {"table", {}}}, {0.0}) == 7);
}

TEST_CASE("kind_weight: refuses weights that are none") {
  CHECK(value_of("kind_weight", kTable, {1.0}) == 2.5);
  CHECK(value_of("kind_weight", kTable, {3.0}) == 1.0);
  CHECK_THROWS_WITH_AS(
      value_of("kind_weight", {{"otherwise", {1.0}}, {"table", {1.0, -1.0}}}, {0.0}),
      "table: must be in [0, 1e6], got -1", std::invalid_argument);
}

TEST_CASE("feedback_factor, priority_factor, consolidation_boost: bounds") {
  CHECK(value_of("feedback_factor", kFeedback, {0.0}) == 1.0);
  CHECK(value_of("feedback_factor", kFeedback, {100.0}) == 2.5);
  CHECK(value_of("feedback_factor", kFeedback, {-2.0}) == 0.6);
  CHECK(value_of("feedback_factor", kFeedback, {-100.0}) == 0.2);
  CHECK(std::isnan(value_of("feedback_factor", kFeedback, {kNan})));
  const KernelParameters priority{{"base", {0.7}}, {"step", {0.08}}};
  CHECK(value_of("priority_factor", priority, {9.0}) == value_of("priority_factor", priority, {5}));
  CHECK(value_of("priority_factor", priority, {0.0}) == value_of("priority_factor", priority, {1}));
  const KernelParameters quality{{"gain", {0.1}}, {"most", {3.0}}};
  CHECK(value_of("consolidation_boost", quality, {-1.0}) == 1.0);
  CHECK(value_of("consolidation_boost", quality, {9.0}) == 1.3);
}

TEST_CASE("floored_decay: no timestamp 1, no rate no decay") {
  CHECK(value_of("floored_decay", {}, {kNan, 0.1, 0.15}) == 1.0);
  CHECK(value_of("floored_decay", {}, {kInf, 0.0, 0.15}) == 1.0);
  CHECK(value_of("floored_decay", {}, {kInf, 0.1, 0.15}) == 0.15);
  CHECK(value_of("floored_decay", {}, {-3.0, 0.1, 0.15}) == 1.0);
  CHECK(std::isnan(value_of("floored_decay", {}, {1.0, kNan, 0.15})));
  CHECK(std::isnan(value_of("floored_decay", {}, {kNan, 0.1, kNan})));
}

TEST_CASE("thompson_boost: 1 below ten observations") {
  const KernelParameters parameters{{"base", {0.8}}, {"spread", {0.4}}, {"least", {10.0}}};
  CHECK(value_of("thompson_boost", parameters, {9.0, 0.0}) == 1.0);
  CHECK(value_of("thompson_boost", parameters, {8.0, 2.0}) == 0.8 + 0.4 * 0.75);
  CHECK_THROWS_AS(value_of("thompson_boost", parameters, {-1.0, 2.0}), std::invalid_argument);
}

TEST_CASE("temporal_proximity: whole days over a range of at least one, nothing beyond it") {
  const double day = 86'400.0;
  const auto proximity = [&](double time) {
    return value_of("temporal_proximity", {}, {time * day, 100 * day, 110 * day});
  };
  CHECK(proximity(100) == 1.0);
  CHECK(proximity(110) == 1.0);
  CHECK(proximity(99.5) == 1 / 1.1);  // a part of a day before the start counts as a whole one
  CHECK(proximity(95) == 1 / 1.5);
  CHECK(proximity(90) == 0.5);
  CHECK(proximity(89.9) == 0.0);
  CHECK(proximity(110.9) == 1.0);  // a part of a day after the end does not count
  CHECK(proximity(120.9) == 0.5);
  CHECK(proximity(121) == 0.0);
  CHECK(std::isnan(proximity(kNan)));
  const auto near_moment = [&](double seconds) {  // the range is a moment: one day
    return value_of("temporal_proximity", {}, {seconds, 5.0, 5.0});
  };
  CHECK(near_moment(5.0) == 1.0);
  CHECK(near_moment(6.0) == 1.0);
  CHECK(near_moment(4.0) == 0.5);
  CHECK(near_moment(5.0 - day - 1.0) == 0.0);
  CHECK(near_moment(5.0 + 2.0 * day) == 0.0);
  CHECK(value_of("temporal_proximity", {}, {5.0, 6.0, 4.0}) == 0.0);  // ends before it starts
}

TEST_CASE("minmax_floor: worst to best, alone 1, NaN aside") {
  const KernelParameters low{{"low", {0.1}}};
  const auto of = [&](std::vector<double> scores) {
    return oneiros::values_of<double>("minmax_floor", low, {scores});
  };
  CHECK(of({2, 4, 3}) == std::vector<double>{0.1, 1.0, 0.1 + 0.9 * 0.5});
  CHECK(of({5}) == std::vector<double>{1.0});
  CHECK(of({5, 5}) == std::vector<double>{1.0, 1.0});
  const auto gap = of({2, kNan, 4});
  CHECK(gap[0] == 0.1);
  CHECK(std::isnan(gap[1]));
  CHECK(gap[2] == 1.0);
  const double large = std::numeric_limits<double>::max();
  CHECK(of({-large, large}) == std::vector<double>{0.1, 1.0});
}

TEST_CASE("minmax_floor: many threads find the extremes of one, and refuse the same value") {
  std::vector<float> values(100'003, 2.0F);
  values[99'999] = 4.0F;
  values[50'000] = 1.0F;
  const std::vector<oneiros::Operand> column{
      {oneiros::ElementType::f32, values.data(), values.size()}};
  std::vector<float> one(values.size());
  std::vector<float> many(values.size());
  const KernelParameters low{{"low", {0.1}}};
  oneiros::evaluate<float>("minmax_floor", low, column, one, 1);
  oneiros::evaluate<float>("minmax_floor", low, column, many, 3);
  CHECK(one == many);
  CHECK(one[99'999] == 1.0F);
  CHECK(one[50'000] == 0.1F);
  values[60'000] = -8.0F;
  values[90'000] = -9.0F;
  CHECK_THROWS_WITH_AS(oneiros::evaluate<float>("spread_weight", {{"cap", {3.0}}}, column, many, 3),
                       "session_spread: must be finite and >= 0, got -8", std::invalid_argument);
}

TEST_CASE("blend: the best BM25 counts 1, none above 0 counts nothing") {
  const KernelParameters weight{{"weight", {0.4}}};
  const auto got = oneiros::values_of<double>("blend", weight, {{8, 4, 0}, {0.5, -1, 1}});
  CHECK(got[0] == 0.4 + 0.6 * 0.5);
  CHECK(got[1] == 0.2);
  CHECK(got[2] == 0.6);
  CHECK(oneiros::values_of<double>("blend", weight, {{0, 0}, {1, 0}}) ==
        std::vector<double>{0.6, 0.0});
}

TEST_CASE("spread_neighbours: shares by distance, a chain ends, neighbours must exist") {
  const KernelParameters shares{{"share", {0.3}}, {"decay", {0.5}}, {"reach", {2.0}}};
  const auto got = oneiros::values_of<double>("spread_neighbours", shares,
                                              {{1, 0, 0, 2}, {-1, 0, 1, -1}, {1, 2, -1, -1}});
  CHECK(got == std::vector<double>{1.0, 0.3, 0.15, 2.0});
  CHECK_THROWS_WITH_AS(
      oneiros::values_of<double>("spread_neighbours", shares, {{1.0}, {1.0}, {-1.0}}),
      "left: must be -1 or an index of the scores, got 1", std::invalid_argument);
}

TEST_CASE("weighted_sum: in channel order, one weight a channel") {
  const auto got = oneiros::values_of<double>("weighted_sum", {{"weights", {0.5, 0.3, 0.2}}},
                                              {{1, 0}, {0, 1}, {1, 1}});
  CHECK(got == std::vector<double>{0.5 * 1 + 0.3 * 0 + 0.2 * 1, 0.5 * 0 + 0.3 * 1 + 0.2 * 1});
  CHECK(oneiros::values_of<double>("weighted_sum", {{"weights", {0.5}}}, {{4.0}})[0] == 2.0);
  CHECK_THROWS_AS(oneiros::values_of<double>("weighted_sum", {{"weights", {0.5, 1.0}}}, {{4.0}}),
                  std::invalid_argument);
}

TEST_CASE("half_life_decay: exact at whole half-lives, no timestamp 1") {
  const KernelParameters parameters{{"half_life_days", {90.0}}, {"floor", {0.2}}};
  CHECK(value_of("half_life_decay", parameters, {90.0}) == 0.5);
  CHECK(value_of("half_life_decay", parameters, {180.0}) == 0.25);
  CHECK(value_of("half_life_decay", parameters, {900.0}) == 0.2);
  CHECK(value_of("half_life_decay", parameters, {kNan}) == 1.0);
}
