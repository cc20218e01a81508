// Rows in order of time within their sessions: docs/systems/house.md H4.
#include "columns/session_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

using namespace oneiros;

namespace {

constexpr std::uint32_t kNobody = SessionOrder::kNobody;

struct Memory {
  std::uint32_t session = 0;
  double created = 0;
  double event = std::nan("");
  double deleted = std::nan("");
};

void write(Columns& columns, std::uint32_t row, const Memory& memory) {
  const std::vector<std::uint32_t> rows{row};
  const std::vector<std::uint32_t> session{memory.session};
  const std::vector<double> created{memory.created};
  const std::vector<double> event{memory.event};
  const std::vector<double> deleted{memory.deleted};
  const std::vector<ColumnValues> values{{"session_code", std::span<const std::uint32_t>(session)},
                                         {"created_at", std::span<const double>(created)},
                                         {"event_at", std::span<const double>(event)},
                                         {"deleted_at", std::span<const double>(deleted)}};
  columns.write(rows, values);
}

// The row behind each, as they should stand.
std::map<std::uint32_t, std::uint32_t> expected(const std::vector<Memory>& memories) {
  std::vector<std::tuple<std::uint32_t, double, std::uint32_t>> keys;
  for (std::uint32_t row = 0; row < memories.size(); ++row) {
    const Memory& one = memories[row];
    if (one.session != 0 && std::isnan(one.deleted)) {
      keys.emplace_back(one.session, std::isnan(one.event) ? one.created : one.event, row);
    }
  }
  std::ranges::sort(keys);
  std::map<std::uint32_t, std::uint32_t> after;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool has_next = i + 1 < keys.size() && std::get<0>(keys[i + 1]) == std::get<0>(keys[i]);
    after[std::get<2>(keys[i])] = has_next ? std::get<2>(keys[i + 1]) : kNobody;
  }
  return after;
}

void check(const SessionOrder& order, const std::vector<Memory>& memories) {
  const auto after = expected(memories);
  const SessionOrder::Reader reader(order);
  REQUIRE(reader.is_empty() == after.empty());
  for (std::uint32_t row = 0; row < memories.size(); ++row) {
    const auto found = after.find(row);
    REQUIRE(reader.after(row) == (found == after.end() ? kNobody : found->second));
    if (found != after.end() && found->second != kNobody) {
      REQUIRE(reader.before(found->second) == row);
    }
  }
}

Memory random_memory(std::mt19937& random) {
  Memory memory;
  memory.session = static_cast<std::uint32_t>(random() % 4);
  memory.created = static_cast<double>(random() % 8);
  memory.event = random() % 3 == 0 ? static_cast<double>(random() % 8) : std::nan("");
  memory.deleted = random() % 5 == 0 ? 1.0 : std::nan("");
  return memory;
}

}  // namespace

TEST_CASE(
    "session order: whatever is written in whichever order, it is sorted by session and time") {
  std::mt19937 random(1);  // NOLINT: the same each time
  for (int world = 0; world < 200; ++world) {
    Columns columns;
    SessionOrder order;
    std::vector<Memory> memories;
    for (int change = 0; change < 12; ++change) {
      std::vector<std::uint32_t> rows;
      const auto fresh = random() % 4;
      columns.append(fresh);
      for (std::size_t i = 0; i < fresh; ++i) {
        rows.push_back(static_cast<std::uint32_t>(memories.size()));
        memories.push_back(random_memory(random));
      }
      for (auto known = random() % 7; known > 0 && !memories.empty(); --known) {
        const auto row = static_cast<std::uint32_t>(random() % memories.size());
        rows.push_back(row);
        if (random() % 2 == 0) {
          memories[row] = random_memory(random);
        }
      }
      for (const std::uint32_t row : rows) {
        write(columns, row, memories[row]);
      }
      order.place(columns, rows);
      if (!memories.empty() && random() % 4 == 0) {
        const auto row = static_cast<std::uint32_t>(random() % memories.size());
        memories[row].session = 0;
        write(columns, row, memories[row]);
        order.remove(row);
      }
      check(order, memories);
    }
    SessionOrder whole;
    whole.place_all(columns);
    check(whole, memories);
  }
}

TEST_CASE("session order: all rows at once, in order or not, and sessions of far numbers") {
  std::mt19937 random(2);  // NOLINT: the same each time
  for (int world = 0; world < 200; ++world) {
    const std::uint32_t apart = world % 3 == 0 ? 1'000 : 1;
    const bool is_in_order = world % 2 == 0;
    Columns columns;
    std::vector<Memory> memories;
    const auto count = static_cast<std::uint32_t>(random() % 30);
    columns.append(count);
    for (std::uint32_t row = 0; row < count; ++row) {
      Memory memory = random_memory(random);
      memory.session *= apart;
      if (is_in_order) {
        memory.created = row;
        memory.event = std::nan("");
      }
      memories.push_back(memory);
      write(columns, row, memory);
    }
    SessionOrder order;
    order.place_all(columns);
    check(order, memories);
    if (count == 0) {
      continue;
    }
    const std::vector<std::uint32_t> rows{static_cast<std::uint32_t>(random() % count)};
    memories[rows[0]] = random_memory(random);
    write(columns, rows[0], memories[rows[0]]);
    order.place(columns, rows);
    check(order, memories);
    order.place_all(columns);
    check(order, memories);
  }
}

TEST_CASE("session order: rows that do not exist are refused, or in no list") {
  Columns columns;
  columns.append(1);
  SessionOrder order;
  const std::vector<std::uint32_t> rows{0, 1};
  CHECK_THROWS_AS(order.place(columns, rows), std::invalid_argument);
  order.remove(7);
  CHECK(SessionOrder::Reader(order).after(7) == kNobody);
  CHECK(SessionOrder::Reader(order).is_empty());
}

TEST_CASE("session order: readers beside a writer see whole lists") {
  Columns columns;
  SessionOrder order;
  constexpr std::uint32_t kRows = 300;
  std::jthread writer([&] {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      columns.append(1);
      write(columns, row, {1, static_cast<double>((row * 7) % 50)});
      order.place(columns, std::vector<std::uint32_t>{row});
    }
  });
  std::uint32_t longest = 0;
  while (longest < kRows) {
    const SessionOrder::Reader reader(order);
    std::uint32_t count = 0;
    std::uint32_t first = 0;
    while (reader.before(first) != kNobody) {
      first = reader.before(first);
    }
    for (std::uint32_t row = first; row != kNobody && !reader.is_empty(); row = reader.after(row)) {
      ++count;
    }
    REQUIRE(count >= longest);
    longest = count;
  }
}
