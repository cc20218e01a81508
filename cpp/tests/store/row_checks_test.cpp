#include "store/row_checks.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

using oneiros::Cell;
using oneiros::RowChecksum;
using oneiros::RowRanges;

namespace {

using Row = std::vector<Cell>;

auto cells_of(const Row& row) {
  return [&row](std::size_t place) { return row.at(place); };
}

constexpr std::array kBytes{std::byte{0}, std::byte{255}};

Row sealed(const RowChecksum& check, Row row) {
  row[0] = static_cast<std::int64_t>(check.of(cells_of(row)));
  return row;
}

}  // namespace

TEST_CASE("RowChecksum: every covered cell counts, by what it says and where it stands") {
  const std::vector<std::string> columns{"number", "text", "bytes", "real"};
  const RowChecksum check(columns, {1, 2, 3, 4}, 0);
  const Row row =
      sealed(check, {Cell(), std::int64_t{5}, "text", std::span(kBytes), 0.5, "besides"});
  CHECK(check.is_right(cells_of(row)));
  const std::vector<Cell> others{std::monostate(), std::int64_t{6}, "5", std::span(kBytes), 5.5};
  for (std::size_t place = 1; place <= 4; ++place) {
    for (const Cell& other : others) {
      Row changed = row;
      changed[place] = other;
      CHECK(check.is_right(cells_of(changed)) == (place == 3 && other.index() == 4));
    }
  }
  Row beside = row;
  beside[5] = std::monostate();  // not covered
  CHECK(check.is_right(cells_of(beside)));
  Row same = row;
  same[1] = 5.0;  // the same number
  CHECK(check.is_right(cells_of(same)));
  same[0] = static_cast<double>(std::get<std::int64_t>(row[0]));  // no checksum
  CHECK_FALSE(check.is_right(cells_of(same)));
}

TEST_CASE("RowChecksum: places are as many as columns") {
  const std::vector<std::string> columns{"one"};
  CHECK_THROWS_WITH_AS(RowChecksum(columns, {}, 0), "places: expected 1, as many as columns, got 0",
                       std::invalid_argument);
}

TEST_CASE("RowRanges: numbers within, and NULL where it may stand") {
  const std::vector<std::size_t> places{0, 1};
  const std::vector<double> lows{1, 0};
  const std::vector<double> highs{3, 1};
  const RowRanges ranges(places, lows, highs, {false, true});
  const auto hold = [&](const Row& row) { return ranges.hold(cells_of(row)); };
  CHECK(hold({std::int64_t{1}, 0.0}));
  CHECK(hold({3.0, std::monostate()}));
  CHECK_FALSE(hold({std::int64_t{0}, 0.0}));
  CHECK_FALSE(hold({std::monostate(), 0.0}));
  CHECK_FALSE(hold({"2", 0.0}));
  CHECK_FALSE(hold({2.0, std::span(kBytes)}));
  CHECK_FALSE(hold({std::nan(""), 0.0}));
  CHECK_FALSE(hold({std::numeric_limits<double>::infinity(), 0.0}));
  CHECK_THROWS_AS(RowRanges(places, lows, highs, {false}), std::invalid_argument);
}
