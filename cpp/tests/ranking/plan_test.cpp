#include "ranking/plan.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

using oneiros::Columns;
using oneiros::ColumnValues;
using oneiros::Parameters;
using oneiros::Plan;
using oneiros::Ranked;

namespace {

constexpr double kNow = 1'750'000'000.0;
constexpr double kDay = 86'400.0;
using Rows = std::vector<std::uint32_t>;

const std::vector<std::pair<std::string, Parameters>> kLive{
    {"time_decay", {{"boost", 0.3}, {"tau_days", 30.0}}}};
const std::vector<std::pair<std::string, Parameters>> kReverie{
    {"time_decay", {{"boost", 0.3}, {"tau_days", 30.0}}},
    {"strength", {}},
    {"depth", {{"table_1", 0.8}, {"table_2", 1.0}, {"table_3", 1.2}}},
    {"spread", {{"cap", std::numeric_limits<double>::infinity()}}},
    {"stability", {{"tau_days", 30.0}, {"low", 0.1}, {"high", 3.0}}}};

Ranked rank(const Plan& plan, const Columns& columns, const std::vector<Rows>& lists, std::size_t k,
            bool is_explained = false) {
  const std::vector<std::span<const std::uint32_t>> spans(lists.begin(), lists.end());
  return plan.rank(columns, {spans, kNow, k, is_explained});
}

template <typename T>
void write(Columns& columns, const Rows& rows, std::string_view name,
           const std::vector<T>& values) {
  const ColumnValues given{name, std::span<const T>(values)};
  columns.write(rows, std::span(&given, 1));
}

}  // namespace

TEST_CASE("plan: fresh memories rank exactly as without the lifecycle") {
  Columns columns;
  columns.append(100);
  Rows all(100);
  std::vector<double> times(100);
  for (std::uint32_t row = 0; row < 100; ++row) {
    all[row] = row;
    times[row] = kNow - (row * 37 % 100) * kDay;
  }
  write(columns, all, "created_at", times);
  write(columns, all, "updated_at", times);
  const std::vector<Rows> lists{{3, 50, 99, 0, 7}, {7, 3, 1, 2}};
  const Ranked live = rank(Plan(30.0, {}, kLive), columns, lists, 100);
  const Ranked whole = rank(Plan(30.0, {}, kReverie), columns, lists, 100);
  CHECK(live.rows == whole.rows);
  CHECK(live.scores == whole.scores);  // bit for bit
}

TEST_CASE("plan: each factor reads its column") {
  Columns columns;
  columns.append(2);
  const Rows row{1};
  write<double>(columns, row, "created_at", {kNow - 90 * kDay});
  write<double>(columns, row, "updated_at", {kNow - 30 * kDay});
  write<float>(columns, row, "strength", {0.5F});
  write<std::uint8_t>(columns, row, "depth", {3});
  write<std::uint32_t>(columns, row, "session_spread", {3});
  write<float>(columns, row, "stability", {2.0F});
  const Plan plan(30.0, {}, kReverie);
  const Ranked ranked = rank(plan, columns, {{1}}, 1, true);
  REQUIRE(ranked.factors.size() == 5);
  CHECK(ranked.factors[0] == doctest::Approx(1 + 0.3 * std::exp(-1.0)).epsilon(1e-14));
  CHECK(ranked.factors[1] == 0.5);
  CHECK(ranked.factors[2] == 1.2);
  CHECK(ranked.factors[3] == 2.0);
  CHECK(ranked.factors[4] == 3.0);  // exp(1.5) clamped, from created_at
  double score = ranked.relevance[0];
  double retention = 1.0;
  for (const double factor : ranked.factors) {
    score *= factor;
    retention *= factor;
  }
  CHECK(ranked.scores[0] == score);
  CHECK(ranked.retention[0] == retention);
  CHECK(ranked.relevance[0] == 1.0 / 31);
  write<double>(columns, row, "last_accessed_at", {kNow - 15 * kDay});
  CHECK(rank(plan, columns, {{1}}, 1, true).factors[4] ==
        doctest::Approx(std::exp(0.25)).epsilon(1e-14));
}

TEST_CASE("plan: equal scores go to the smaller row, k cuts") {
  Columns columns;
  columns.append(10);
  const Plan plan(30.0, {}, kReverie);
  const std::vector<Rows> lists{{8, 2}, {2, 8}, {5}, {}};
  CHECK(rank(plan, columns, lists, 10).rows == Rows{2, 8, 5});
  CHECK(rank(plan, columns, lists, 2).rows == Rows{2, 8});
  CHECK(rank(plan, columns, lists, 2).candidate_count == 3);
  CHECK(rank(plan, columns, lists, 0).rows.empty());
  CHECK(rank(plan, columns, {}, 10).rows.empty());
}

TEST_CASE("plan: times after now are counted and change nothing else") {
  Columns columns;
  columns.append(3);
  write<double>(columns, {0, 1, 2}, "created_at", {kNow + kDay, kNow, kNow + kDay});
  write<double>(columns, {0, 1, 2}, "updated_at", {kNow + kDay, kNow, kNow});
  const Ranked ranked = rank(Plan(30.0, {}, kReverie), columns, {{0, 1, 2}}, 3, true);
  CHECK(ranked.future_count == 2);
  CHECK(ranked.factors[0] == 1.3);
  CHECK(rank(Plan(30.0, {}, kLive), columns, {{0, 1, 2}}, 3).future_count == 1);
}

TEST_CASE("plan: a memory without times is neutral") {
  Columns columns;
  columns.append(1);
  const Ranked ranked = rank(Plan(30.0, {}, kReverie), columns, {{0}}, 1);
  CHECK(ranked.retention[0] == 1.0);
  CHECK(ranked.future_count == 0);
}

TEST_CASE("plan: explained ranks and factors stand beside the rows") {
  Columns columns;
  columns.append(5);
  const Ranked ranked = rank(Plan(30.0, {2.0, 1.0}, kLive), columns, {{4, 1}, {1}}, 2, true);
  CHECK(ranked.rows == Rows{1, 4});
  CHECK(ranked.ranks == std::vector<std::uint32_t>{2, 1, 1, 0});
  CHECK(ranked.factors.size() == 2);
  CHECK(rank(Plan(30.0, {}, kLive), columns, {{4}}, 1).ranks.empty());
}

TEST_CASE("plan: factors without a query") {
  Columns columns;
  columns.append(3);
  write<float>(columns, {0, 2}, "strength", {0.5F, 0.25F});
  const Plan plan(30.0, {}, kReverie);
  std::vector<double> factors(5 * 2);
  plan.factors(columns, Rows{2, 0}, kNow, factors);
  CHECK(factors[2] == 0.25);  // strength of row 2
  CHECK(factors[3] == 0.5);
  CHECK_THROWS_AS(plan.factors(columns, Rows{0, 3}, kNow, factors), std::invalid_argument);
}

TEST_CASE("plan: refuses what it cannot run") {
  const auto plan = [](const std::vector<std::pair<std::string, Parameters>>& steps) {
    return Plan(30.0, {}, steps);
  };
  CHECK_THROWS_WITH_AS(plan({{"magic", {}}}), "steps: no factor is called \"magic\"",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(plan({{"spread", {}}}), "spread: parameter cap is missing",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(plan({{"strength", {{"cap", 1.0}}}}), "strength: takes 0 parameters, got 1",
                       std::invalid_argument);
  CHECK_THROWS_AS(plan({{"time_decay", {{"boost", 0.3}, {"tau_days", -1.0}}}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(Plan(30.0, {}, std::vector(33, kLive[0])), std::invalid_argument);
  CHECK_THROWS_AS(Plan(NAN, {}, {}), std::invalid_argument);
  Columns columns;
  columns.append(2);
  CHECK_THROWS_WITH_AS(rank(plan(kLive), columns, {{0, 2}}, 1), "rows: 2 is not one of the 2 rows",
                       std::invalid_argument);
  const std::vector<std::span<const std::uint32_t>> none;
  CHECK_THROWS_AS(static_cast<void>(plan(kLive).rank(columns, {none, NAN, 1, false})),
                  std::invalid_argument);
  CHECK(rank(plan(kLive), columns, {{0, 1}}, 1).rows == Rows{0});  // after a refusal all goes on
}

TEST_CASE("plan: many threads rank while one writes") {
  Columns columns;
  columns.append(50);
  const Plan plan(30.0, {}, kReverie);
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Ranked ranked = rank(plan, columns, {{1, 2, 3}, {3, 4}}, 3);
        REQUIRE(ranked.rows.size() == 3);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 200; ++i) {
      columns.append(10);
      columns.reinforce(Rows{1, 2}, kNow + i, Rows{2, 2}, {0.1, 7.0, 10.0});
    }
  });
  threads.clear();
  CHECK(columns.size() == 50 + 2000);
}
