#include "association/graph.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/rounds.h"

using oneiros::AssociationGraph;
using oneiros::ExpansionRule;
using oneiros::LinkClock;
using oneiros::LinkList;
using oneiros::Reached;
using oneiros::lexical::AllowedRows;
using oneiros::testing::rounds;

namespace {

constexpr double kNow = 1.75e9;
constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
constexpr LinkClock kClock{kNow, 90.0};
constexpr ExpansionRule kTwoHops{kClock, 0.1, 0.0, 1.0, 2};

void set(AssociationGraph& graph, const LinkList& list) {
  graph.set({{list.a, list.b}, list.weight, list.kind, list.created_seconds, list.last_seconds});
}

void add(LinkList& list, std::uint32_t a, std::uint32_t b, double weight,
         double last_seconds = kNever) {
  list.a.push_back(a);
  list.b.push_back(b);
  list.weight.push_back(weight);
  list.kind.push_back(0);
  list.created_seconds.push_back(kNow);
  list.last_seconds.push_back(last_seconds);
}

// Each row with the next, and the last with the first.
LinkList ring(std::uint32_t size, double weight) {
  LinkList list;
  for (std::uint32_t row = 0; row < size; ++row) {
    add(list, row, (row + 1) % size, weight);
  }
  return list;
}

std::vector<Reached> expand(const AssociationGraph& graph, std::uint32_t seed,
                            const ExpansionRule& rule = kTwoHops) {
  return graph.expand({std::span(&seed, 1), {}}, rule, AllowedRows(), 100);
}

}  // namespace

TEST_CASE("associations: a link is there once, seen from both its rows, and the last set holds") {
  AssociationGraph graph;
  graph.grow(3);
  LinkList list;
  add(list, 0, 1, 0.5);
  add(list, 1, 0, 0.75);
  set(graph, list);
  CHECK(graph.link_count() == 1);
  REQUIRE(graph.neighbours(0, kClock).size() == 1);
  CHECK(graph.neighbours(0, kClock)[0].weight_left == 0.75);
  CHECK(graph.neighbours(1, kClock)[0].link.neighbour() == 0);
  CHECK(graph.links().a == std::vector<std::uint32_t>{0});
  CHECK(graph.remove_rows(std::array{1U}) == 1);
  CHECK(graph.link_count() == 0);
  CHECK(graph.neighbours(0, kClock).empty());
}

TEST_CASE("associations: strengthening adds to what is left, and restarts the clock") {
  AssociationGraph graph;
  graph.grow(2);
  LinkList list;
  add(list, 0, 1, 0.5, kNow - 90 * 86'400.0);
  set(graph, list);
  graph.strengthen({std::array{0U}, std::array{1U}}, {0.1}, kClock);
  const LinkList after = graph.links();
  CHECK(after.weight[0] == doctest::Approx(0.5 * std::exp(-1.0) + 0.1).epsilon(1e-14));
  CHECK(after.last_seconds[0] == kNow);
  CHECK(after.created_seconds[0] == kNow);
}

TEST_CASE("associations: a link gains the share of its rest") {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  AssociationGraph graph;
  graph.grow(6);
  LinkList list;
  add(list, 0, 1, 0.5, kNow - 86'400.0);
  add(list, 0, 2, 0.5, kNow - 3 * 86'400.0);
  add(list, 0, 3, 0.5, kNow + 86'400.0);
  add(list, 0, 4, 0.5, std::nan(""));
  set(graph, list);
  graph.strengthen({std::array{0U, 0U, 0U, 0U, 0U, 0U}, std::array{1U, 2U, 3U, 4U, 5U, 5U}},
                   {.weight = 0.25, .rest_days = 2.0}, {kNow, kEndless});
  CHECK(graph.links().weight == std::vector{0.625, 0.75, 0.5, 0.75, 0.25});
}

TEST_CASE("associations: without a rest a link gains all, even where it was found later than now") {
  AssociationGraph graph;
  graph.grow(3);
  LinkList list;
  add(list, 0, 1, 0.25, kNow + 60.0);
  add(list, 0, 2, 0.25, kNow);
  set(graph, list);
  graph.strengthen({std::array{0U, 0U}, std::array{1U, 2U}}, {0.25},
                   {kNow, std::numeric_limits<double>::infinity()});
  CHECK(graph.links().weight == std::vector{0.5, 0.5});
}

TEST_CASE("associations: refused is refused before anything is written") {
  AssociationGraph graph;
  graph.grow(2);
  LinkList list;
  add(list, 0, 1, 0.5);
  add(list, 1, 1, 0.5);
  CHECK_THROWS_WITH_AS(set(graph, list),
                       "b: must be another row than a, got 1 for both (position 1)",
                       std::invalid_argument);
  CHECK(graph.link_count() == 0);
  CHECK_THROWS_AS(graph.grow(AssociationGraph::kMostRows + 1), std::overflow_error);
}

TEST_CASE("associations: what links stand by never hides one, at any time and however large") {
  for (const double scale : {0.0, 1.0, 1.75e9, 1e300}) {
    AssociationGraph graph;
    graph.grow(66);
    LinkList list;
    for (std::uint32_t row = 1; row < 65; ++row) {
      add(list, 0, row, row / 64.0, scale - row * 7e5);
    }
    add(list, 0, 65, 1.0, scale * 2);
    set(graph, list);
    for (const double ahead : {-1e7, 0.0, 1e7}) {
      const LinkClock clock{scale + ahead, 90.0};
      for (const auto& neighbour : graph.neighbours(0, clock)) {
        // Just what is left: a bound that is off by one rounding would cut it.
        ExpansionRule rule{clock, 0.0, neighbour.weight_left, 1.0, 1};
        bool is_found = false;
        for (const Reached& reached : expand(graph, 0, rule)) {
          is_found = is_found || reached.row == neighbour.link.neighbour();
        }
        CHECK(is_found);
      }
    }
  }
}

TEST_CASE("associations: readers see all of a write or nothing of it") {
  AssociationGraph graph;
  constexpr std::uint32_t kSize = 24;
  graph.grow(kSize);
  set(graph, ring(kSize, 1.0));
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    std::vector<std::jthread> readers;
    for (std::uint32_t seed = 0; seed < 3; ++seed) {
      readers.emplace_back([&, seed] {
        while (!is_over) {
          const std::vector<Reached> found = expand(graph, seed);
          const double weight = found.empty() ? 0.0 : found[0].value;
          // Without links, or two of one weight and two of its square.
          const bool is_whole = found.empty() || (found.size() == 4 && found[1].value == weight &&
                                                  found[2].value == weight * weight &&
                                                  found[3].value == weight * weight);
          wrong_count += is_whole ? 0U : 1U;
          const std::array ends{seed, seed + 2};
          const auto bridges = graph.bridges(ends, {kClock, 0.1}, AllowedRows(), 10);
          wrong_count +=
              bridges.empty() || (bridges.size() == 1 && bridges[0].row == seed + 1) ? 0U : 1U;
          static_cast<void>(graph.neighbours(seed, kClock));
        }
      });
    }
    std::vector<std::uint32_t> rows(kSize);
    for (std::uint32_t row = 0; row < kSize; ++row) {
      rows[row] = row;
    }
    for (std::uint32_t i = 0; i < rounds(1'000U); ++i) {
      set(graph, ring(kSize, 0.2 + 0.1 * (i % 8)));
      if (i % 5 == 0) {
        graph.remove_rows(rows);
      }
      if (i % 100 == 0) {
        graph.grow(kSize + i);
        CHECK(graph.links().a.size() == graph.link_count());
      }
    }
    is_over = true;
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("associations: many writers lose nothing") {
  AssociationGraph graph;
  constexpr std::uint32_t kWriters = 3;
  constexpr std::uint32_t kPairs = 40;
  graph.grow(kWriters * kPairs + 1);
  {
    std::vector<std::jthread> writers;
    for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&graph, writer] {
        for (std::uint32_t i = 0; i < kPairs; ++i) {
          const std::uint32_t row = 1 + writer * kPairs + i;
          graph.strengthen({std::array{0U, 0U}, std::array{row, row}}, {0.1}, kClock);
        }
      });
    }
  }
  CHECK(graph.link_count() == kWriters * kPairs);
  const LinkList list = graph.links();
  for (const double weight : list.weight) {
    CHECK(weight == 0.1 + 0.1);
  }
}
