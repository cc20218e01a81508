#include "columns/columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "association/graph.h"
#include "columns/most_accessed.h"

using oneiros::Column;
using oneiros::Columns;
using oneiros::ColumnValues;

namespace {

template <typename T>
ColumnValues given(std::string_view name, const std::vector<T>& values) {
  return {name, std::span<const T>(values)};
}

void write_one(Columns& columns, const std::vector<std::uint32_t>& rows,
               const ColumnValues& values) {
  columns.write(rows, std::span(&values, 1));
}

}  // namespace

TEST_CASE("columns: the most accessed rows, of those allowed, in the order of accesses and rows") {
  Columns columns;
  using Rows = std::vector<std::uint32_t>;
  CHECK(oneiros::most_accessed(columns, 3, nullptr).empty());
  columns.append(20);
  CHECK(oneiros::most_accessed(columns, 3, nullptr).empty());
  const Rows rows{1, 4, 7, 9, 13, 19};
  const Rows accesses{5, 2, 5, 9, 2, 5};
  write_one(columns, rows, given("access_count", accesses));
  CHECK(oneiros::most_accessed(columns, 0, nullptr).empty());
  CHECK(oneiros::most_accessed(columns, 1, nullptr) == Rows{9});
  CHECK(oneiros::most_accessed(columns, 3, nullptr) == Rows{9, 1, 7});
  CHECK(oneiros::most_accessed(columns, 5, nullptr) == Rows{9, 1, 7, 19, 4});
  CHECK(oneiros::most_accessed(columns, 50, nullptr) == Rows{9, 1, 7, 19, 4, 13});
  const std::vector<std::uint8_t> bits{0b1001'0000, 0b0010'0000};  // 4, 7, 13; not 19
  const std::span<const std::uint8_t> allowed(bits);
  CHECK(oneiros::most_accessed(columns, 2, &allowed) == Rows{7, 4});
  CHECK(oneiros::most_accessed(columns, 9, &allowed) == Rows{7, 4, 13});
}

TEST_CASE("columns: the most accessed of many rows are those that sorting puts first") {
  using Rows = std::vector<std::uint32_t>;
  std::mt19937 random(7);
  for (const std::size_t size : {1U, 255U, 256U, 257U, 1000U, 1025U}) {
    Columns columns;
    columns.append(size);
    Rows rows(size);
    Rows accesses(size);
    std::vector<std::uint8_t> bits((size + 7) / 8);
    for (std::uint32_t row = 0; row < size; ++row) {
      rows[row] = row;
      accesses[row] = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 8 : 0);
      accesses[row] += random() % 64 == 0 ? 0xFFFF'0000U : 0;
      bits[row / 8] |= static_cast<std::uint8_t>((random() % 4 == 0 ? 0U : 1U) << (row % 8));
    }
    write_one(columns, rows, given("access_count", accesses));
    std::ranges::stable_sort(rows, std::greater<>(), [&](auto row) { return accesses[row]; });
    const std::span<const std::uint8_t> allowed(bits);
    for (const std::size_t count : {1U, 50U, 300U, 2000U}) {
      Rows all;
      Rows permitted;
      for (const std::uint32_t row : rows) {
        if (accesses[row] != 0 && all.size() < count) {
          all.push_back(row);
        }
        if (accesses[row] != 0 && permitted.size() < count &&
            ((bits[row / 8] >> (row % 8)) & 1U) != 0) {
          permitted.push_back(row);
        }
      }
      CHECK(oneiros::most_accessed(columns, count, nullptr) == all);
      CHECK(oneiros::most_accessed(columns, count, &allowed) == permitted);
    }
  }
}

TEST_CASE("columns: new rows hold the defaults of fields.md") {
  Columns columns;
  CHECK(columns.append(3) == 0);
  CHECK(columns.append(2) == 3);
  REQUIRE(columns.size() == 5);
  for (std::size_t row = 0; row < columns.size(); ++row) {
    CHECK(columns.values<Column::importance>()[row] == 0.5F);
    CHECK(columns.values<Column::certainty>()[row] == 1.0F);
    CHECK(columns.values<Column::impact>()[row] == 0.5F);
    CHECK(columns.values<Column::strength>()[row] == 1.0F);
    CHECK(columns.values<Column::stability>()[row] == 1.0F);
    CHECK(columns.values<Column::depth>()[row] == 2);
    CHECK(columns.values<Column::session_spread>()[row] == 1);
    CHECK(columns.values<Column::priority>()[row] == 3);
    CHECK(columns.values<Column::category>()[row] == 1);
    CHECK(columns.values<Column::veracity>()[row] == 1);
    CHECK(columns.values<Column::canonical_layer>()[row] == 1);
    CHECK(columns.values<Column::access_count>()[row] == 0);
    CHECK(std::isnan(columns.values<Column::created_at>()[row]));
    CHECK(std::isnan(columns.values<Column::deleted_at>()[row]));
  }
}

TEST_CASE("columns: a value never moves, however many rows follow") {
  Columns columns;
  columns.append(1);
  write_one(columns, {0}, given<float>("strength", {0.25F}));
  const float* const strength = columns.values<Column::strength>().data();
  const double* const created = columns.values<Column::created_at>().data();
  for (int i = 0; i < 12; ++i) {
    columns.append(100'000);
  }
  CHECK(columns.values<Column::strength>().data() == strength);
  CHECK(columns.values<Column::created_at>().data() == created);
  CHECK(strength[0] == 0.25F);
  CHECK(strength[1'200'000] == 1.0F);
}

TEST_CASE("columns: full is said in words and changes nothing") {
  Columns columns(1);  // rounded up to the fewest
  CHECK(columns.capacity() == Columns::kFewestRows);
  columns.append(Columns::kFewestRows - 1);
  CHECK_THROWS_WITH_AS(columns.append(2),
                       "columns: full: room for 65536 rows, 65535 in use, 2 more wanted",
                       std::overflow_error);
  CHECK_THROWS_AS(columns.append(SIZE_MAX), std::overflow_error);
  CHECK(columns.append(1) == Columns::kFewestRows - 1);
  CHECK(columns.append(0) == Columns::kFewestRows);
}

TEST_CASE("columns: write puts each value where it belongs") {
  Columns columns;
  columns.append(4);
  const std::vector<std::uint32_t> rows{2, 0, 2};
  const std::vector<std::uint8_t> depth{1, 3, 3};
  const std::vector<double> event{1.0, std::numeric_limits<double>::quiet_NaN(), -5.0};
  const std::array values{given("depth", depth), given("event_at", event)};
  columns.write(rows, values);
  CHECK(columns.values<Column::depth>()[2] == 3);  // the last of a repeated row
  CHECK(columns.values<Column::depth>()[0] == 3);
  CHECK(columns.values<Column::depth>()[1] == 2);
  CHECK(columns.values<Column::event_at>()[2] == -5.0);
  CHECK(std::isnan(columns.values<Column::event_at>()[0]));
}

TEST_CASE("columns: a refused write changes nothing and names the fault") {
  Columns columns;
  columns.append(2);
  const std::vector<std::uint32_t> rows{0, 1};
  const auto refused = [&](const ColumnValues& bad, const char* message) {
    const std::vector<float> strength{0.5F, 0.5F};
    const std::array values{given("strength", strength), bad};
    CHECK_THROWS_WITH_AS(columns.write(rows, values), message, std::invalid_argument);
    CHECK(columns.values<Column::strength>()[0] == 1.0F);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused(given<std::uint8_t>("depth", {1, 4}), "depth: must be in [1, 3] (position 1), got 4");
  refused(given<float>("importance", {nan, 0}),
          "importance: must be in [0, 1] (position 0), got nan");
  refused(given<float>("stability", {1, INFINITY}),
          "stability: must be finite and >= 0 (position 1), got inf");
  refused(given<std::uint32_t>("session_spread", {1, 0}),
          "session_spread: must be in [1, 4294967295] (position 1), got 0");
  refused(given<float>("depth", {1, 1}), "depth: given values of another type");
  refused(given<std::uint8_t>("depth", {1}), "depth: expected 2 values, one a row, got 1");
  refused(given<std::uint8_t>("size", {1, 1}), "size: no column has this name");
  const std::vector<double> endless{INFINITY, 0};
  CHECK_THROWS_AS(write_one(columns, rows, given("created_at", endless)), std::invalid_argument);
  CHECK_THROWS_WITH_AS(write_one(columns, {0, 2}, given<std::uint8_t>("depth", {1, 1})),
                       "rows: 2 (position 1) is not one of the 2 rows", std::invalid_argument);
  CHECK(columns.values<Column::depth>()[0] == 2);
}

TEST_CASE("columns: reinforcement follows R20") {
  Columns columns;
  columns.append(3);
  const double now = 1'000'000'000.0;
  const double day = 86'400.0;
  const std::vector<std::uint32_t> rows{0, 1, 2};
  const std::vector<double> created{now - 7 * day, now - 100 * day, now + day};
  const std::vector<std::uint32_t> accesses{0, std::numeric_limits<std::uint32_t>::max(), 5};
  const std::vector<float> stability{1.0F, 9.5F, 2.0F};
  const std::array values{given("created_at", created), given("access_count", accesses),
                          given("stability", stability)};
  columns.write(rows, values);
  const std::vector<std::uint32_t> spread{2, 3, 4};
  columns.reinforce(rows, now, spread, {0.1, 7.0, 10.0});
  CHECK(columns.values<Column::stability>()[0] == doctest::Approx(1.1));
  CHECK(columns.values<Column::stability>()[1] == 10.0F);  // 9.5 x 1.2, capped
  CHECK(columns.values<Column::stability>()[2] == 2.0F);   // created after now: 0 days
  CHECK(columns.values<Column::access_count>()[0] == 1);
  CHECK(columns.values<Column::access_count>()[1] == std::numeric_limits<std::uint32_t>::max());
  CHECK(columns.values<Column::last_accessed_at>()[0] == now);
  CHECK(columns.values<Column::session_spread>()[2] == 4);
  columns.reinforce(std::vector<std::uint32_t>{0}, now + 3.5 * day, std::vector<std::uint32_t>{2},
                    {0.1, 7.0, 10.0});
  CHECK(columns.values<Column::stability>()[0] == doctest::Approx(1.1 * 1.05));  // from last access
}

TEST_CASE("columns: additive reinforcement follows C11") {
  Columns columns;
  columns.append(3);
  const double now = 1'000'000'000.0;
  const double day = 86'400.0;
  const std::vector<std::uint32_t> rows{0, 1, 2};
  const std::vector<double> created{now - 3.5 * day, now - 100 * day, NAN};
  const std::vector<float> stability{0.25F, 0.95F, 0.5F};
  const std::array values{given("created_at", created), given("stability", stability)};
  columns.write(rows, values);
  columns.reinforce(rows, now, std::vector<std::uint32_t>{1, 1, 1}, {0.1, 7.0, 1.0, 2.0, true});
  CHECK(columns.values<Column::stability>()[0] == doctest::Approx(0.3));
  CHECK(columns.values<Column::stability>()[1] == 1.0F);                  // 0.95 + 0.2, capped
  CHECK(columns.values<Column::stability>()[2] == doctest::Approx(0.6));  // no time: one span
}

TEST_CASE("columns: refused reinforcement changes nothing") {
  Columns columns;
  columns.append(1);
  const std::vector<std::uint32_t> row{0};
  const std::vector<std::uint32_t> none{0};
  const oneiros::ReinforcementRule rule{0.1, 7.0, 10.0};
  CHECK_THROWS_AS(columns.reinforce(row, 0.0, none, rule), std::invalid_argument);
  CHECK_THROWS_AS(columns.reinforce(row, NAN, row, rule), std::invalid_argument);
  CHECK_THROWS_AS(columns.reinforce(row, 0.0, std::vector<std::uint32_t>{1, 1}, rule),
                  std::invalid_argument);
  CHECK_THROWS_AS(
      columns.reinforce(std::vector<std::uint32_t>{1}, 0.0, std::vector<std::uint32_t>{1}, rule),
      std::invalid_argument);
  CHECK_THROWS_AS(columns.reinforce(row, 0.0, std::vector<std::uint32_t>{1}, {0.1, 0.0, 10.0}),
                  std::invalid_argument);
  CHECK(columns.values<Column::access_count>()[0] == 0);
}

TEST_CASE("columns: readers and writers at once") {
  Columns columns;
  columns.append(64);
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        const Columns::Reader locked(columns);
        for (const float strength : locked.values<Column::strength>()) {
          REQUIRE((strength == 1.0F || strength == 0.5F));
        }
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint32_t i = 0; i < 300; ++i) {
      columns.append(50);
      write_one(columns, {i % 64}, given<float>("strength", {0.5F}));
      columns.reinforce(std::vector<std::uint32_t>{i % 64}, 1.0, std::vector<std::uint32_t>{2},
                        {0.1, 7.0, 10.0});
    }
  });
  threads.clear();
  CHECK(columns.size() == 64 + 300 * 50);
}

TEST_CASE("columns: many that reinforce at once lose no count, beside a writer and readers") {
  constexpr std::uint32_t kSearches = 200;
  constexpr std::uint32_t kThreads = 8;
  Columns columns;
  columns.append(10);
  oneiros::AssociationGraph graph;
  graph.grow(10);
  const oneiros::LinkClock clock{1e9, std::numeric_limits<double>::infinity()};
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&columns, &graph, &clock] {
      const std::vector<std::uint32_t> rows{0, 3, 9};
      const std::vector<std::uint32_t> spread{1, 1, 1};
      for (std::uint32_t i = 0; i < kSearches; ++i) {
        columns.reinforce(rows, 1e9, spread, {0.1, 7.0, 10.0});
        graph.strengthen({std::array{0U, 3U, 9U}, std::array{3U, 9U, 0U}}, {1.0 / 4'096}, clock);
        static_cast<void>(graph.neighbours(3, clock));
      }
    });
  }
  threads.emplace_back([&columns, &graph] {
    for (std::uint32_t i = 0; i < kSearches; ++i) {
      graph.grow(columns.append(5) + 5);
      write_one(columns, {i % 10}, given<float>("strength", {0.5F}));
      static_cast<void>(graph.remove_rows(std::array{1U, 2U}));
    }
  });
  threads.clear();
  for (const std::uint32_t row : {0U, 3U, 9U}) {
    CHECK(columns.values<Column::access_count>()[row] == kThreads * kSearches);
    for (const auto& neighbour : graph.neighbours(row, clock)) {
      CHECK(neighbour.weight_left == kThreads * kSearches / 4'096.0);
    }
  }
  CHECK(graph.link_count() == 3);
}
