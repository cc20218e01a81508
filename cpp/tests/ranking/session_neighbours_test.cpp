// What neighbours lend: docs/systems/house.md H4. The engine's tests hold it to an oracle.
#include "ranking/session_neighbours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ranking/candidates.h"

using namespace oneiros;

namespace {

// Rows 0 to 4 of one session in this order.
struct World {
  World() {
    columns.append(5);
    const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
    const std::vector<std::uint32_t> session(5, 1U);
    const std::vector<double> created{0, 1, 2, 3, 4};
    const std::vector<ColumnValues> values{
        {"session_code", std::span<const std::uint32_t>(session)},
        {"created_at", std::span<const double>(created)}};
    columns.write(rows, values);
    order.place_all(columns);
  }
  Columns columns;
  SessionOrder order;
};

}  // namespace

TEST_CASE("session neighbours: by hit, the nearer first, and only what is allowed") {
  const World world;
  const std::vector<std::uint32_t> rows{2};
  const std::vector<double> scores{1.0};
  const NeighbourRule rule{0.3, 0.5, 2, 10, false};
  const BroughtIn all = neighbours_of_best(world.order, rows, scores, rule, {}, {});
  CHECK(all.rows == std::vector<std::uint32_t>{1, 3, 0, 4});
  CHECK(all.hits == std::vector<std::uint32_t>{2, 2, 2, 2});
  const std::vector<std::uint8_t> bits{0b1001};
  const BroughtIn few =
      neighbours_of_best(world.order, rows, scores, rule, {}, lexical::AllowedRows(bits));
  CHECK(few.rows == std::vector<std::uint32_t>{3, 0});
}

TEST_CASE("session neighbours: shares as the page writes them; NaN neither gives nor counts") {
  const World world;
  const std::vector<std::uint32_t> rows{2, 1, 4};
  const std::vector<double> scores{1.0, 0.5, std::nan("")};
  CHECK(neighbour_shares(world.order, rows, scores, {0.3, 0.5, 2, 10, false}, {}) ==
        std::vector<double>{0.3 * 0.5, 0.3 * 1.0, 0.3 * 0.5 * 1.0});
  CHECK(neighbour_shares(world.order, rows, scores, {0.5, 0.5, 1, 10, true}, {}) ==
        std::vector<double>{0.0, 0.5 * 0.25, 0.0});
}

// Rows 0 to 2 of one session and 3 to 4 of another, with means 2 and 5.
TEST_CASE("session neighbours: what exceeds the session's mean, long texts, sides, the session") {
  Columns columns;
  columns.append(5);
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  const std::vector<std::uint32_t> session{1, 1, 1, 2, 2};
  const std::vector<double> created{0, 1, 2, 3, 4};
  const std::vector<ColumnValues> values{{"session_code", std::span<const std::uint32_t>(session)},
                                         {"created_at", std::span<const double>(created)}};
  columns.write(rows, values);
  SessionOrder order;
  order.place_all(columns);
  const std::vector<double> scores{4.0, 0.0, 2.0, 4.0, 6.0};
  using Shares = std::vector<double>;
  NeighbourRule rule{.share = 0.5,
                     .decay = 0.5,
                     .reach = 1,
                     .seeds = 10,
                     .is_above_mean = false,
                     .is_above_session = true};
  const auto shares = [&](std::span<const double> lengths = {}) {
    return neighbour_shares(order, rows, scores, rule, {}, lengths);
  };
  CHECK(shares() == Shares{0.0, 1.0, 0.0, 0.5, 0.0});
  rule.is_above_mean = true;  // 3.2: more than the first session's mean, less than the other's
  CHECK(shares() == Shares{0.0, 0.5 * (4.0 - 3.2), 0.0, 0.5, 0.0});
  rule.is_above_mean = rule.is_above_session = false;
  CHECK(shares() == Shares{0.0, 3.0, 0.0, 3.0, 2.0});
  rule.is_from_better = true;
  CHECK(shares() == Shares{0.0, 2.0, 0.0, 3.0, 2.0});
  rule.whole_length = 10.0;
  CHECK(shares(Shares{40.0, 20.0, 0.0, 10.0, 40.0}) == Shares{0.0, 1.0, 0.0, 3.0, 0.5});
  rule.session_share = 0.25;  // of what 4, 1, 2 lack to 4, and 7, 6.5 to 7
  CHECK(shares(Shares{40.0, 20.0, 0.0, 10.0, 40.0}) == Shares{0.0, 1.75, 0.5, 3.0, 0.625});
}

TEST_CASE("session neighbours: rows of no session gain nothing from one another") {
  Columns columns;
  columns.append(2);
  const std::vector<std::uint32_t> rows{0, 1};
  SessionOrder order;
  order.place_all(columns);
  NeighbourRule rule{.share = 0.5, .decay = 0.5, .reach = 2, .seeds = 10, .is_above_mean = false};
  rule.session_share = 0.5;
  CHECK(neighbour_shares(order, rows, std::vector<double>{1.0, 2.0}, rule, {}) ==
        std::vector<double>{0.0, 0.0});
}

TEST_CASE("session neighbours: a scope sees its own rows as if there were no others") {
  constexpr std::uint32_t kRows = 20'000;
  Columns columns;
  columns.append(kRows);
  std::vector<std::uint32_t> every(kRows);
  std::vector<double> created(kRows);
  std::vector<std::uint8_t> bits(kRows / 8);
  std::vector<std::uint32_t> mine;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    every[row] = row;
    created[row] = row * 7919U % kRows;
    if (row % 1'000 == 3) {  // one in a thousand: its neighbours lie far apart
      bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | 1U << row % 8);
      mine.push_back(row);
    }
  }
  const std::vector<std::uint32_t> session(kRows, 1U);
  const std::vector<ColumnValues> values{{"session_code", std::span<const std::uint32_t>(session)},
                                         {"created_at", std::span<const double>(created)}};
  columns.write(every, values);
  SessionOrder order;
  order.place_all(columns);
  SessionOrder alone;
  alone.place(columns, mine);
  const NeighbourRule rule{0.3, 0.5, 2, 3, false};
  const lexical::AllowedRows scope(bits);
  CHECK(is_long_walk(order, mine, rule, scope));
  CHECK_FALSE(is_long_walk(alone, mine, rule, scope));
  CHECK_FALSE(is_long_walk(order, mine, rule, {}));
  const std::vector<std::uint32_t> rows(mine.begin(), mine.begin() + 5);
  const std::vector<double> scores{5.0, 4.0, 3.0, 2.0, 1.0};
  const BroughtIn brought = neighbours_of_best(order, rows, scores, rule, scope, scope);
  const BroughtIn expected = neighbours_of_best(alone, rows, scores, rule, {}, {});
  CHECK(brought.rows == expected.rows);
  CHECK(!brought.rows.empty());
  CHECK(brought.hits == expected.hits);
  CHECK(neighbour_shares(order, mine, std::vector<double>(mine.size(), 1.0), rule, scope) ==
        neighbour_shares(alone, mine, std::vector<double>(mine.size(), 1.0), rule, {}));
}

TEST_CASE("candidates: rows that stand beside hits come behind them, unranked, once") {
  const std::vector<std::uint32_t> rows{5, 3};
  const std::vector<double> scores{2.0, 1.0};
  const std::vector<ChannelHits> channels{{rows, std::span<const double>(scores)},
                                          {{}, std::span<const double>()}};
  Candidates candidates(channels);
  candidates.lend({0.1, 0.2});
  CHECK_THROWS_AS(candidates.lend({0.1}), std::invalid_argument);
  const std::vector<std::uint32_t> more{9, 4};
  candidates.append(more);
  CHECK(candidates.neighbour_gains().empty());
  CHECK(std::vector(candidates.rows().begin(), candidates.rows().end()) ==
        std::vector<std::uint32_t>{5, 3, 9, 4});
  CHECK(candidates.ranks(0)[1] == 2);
  CHECK(candidates.ranks(0)[2] == 0);
  CHECK(candidates.missing(0) == more);
  CHECK(candidates.missing(1).size() == 4);
  CHECK_THROWS_AS(candidates.append(more), std::invalid_argument);
}
