#include "ranking/fusion.h"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

using oneiros::Fusion;
using oneiros::FusionRule;
using oneiros::Normalise;

namespace {

template <typename Id>
std::vector<std::span<const Id>> spans_of(const std::vector<std::vector<Id>>& lists) {
  return {lists.begin(), lists.end()};
}

using Lists = std::vector<std::vector<std::int64_t>>;

struct Fused {
  std::vector<std::int64_t> ids;
  std::vector<double> scores;
};

Fused fused(const Lists& lists, const FusionRule& rule) {
  Fused result;
  oneiros::fused_best_first(spans_of(lists), rule, 100, result.ids, result.scores);
  return result;
}

}  // namespace

TEST_CASE("fusion: sums reciprocal ranks in channel order") {
  const Lists lists{{7, 5}, {5, 9}};
  const Fused result = fused(lists, {30.0, {}, Normalise::none});
  CHECK(result.ids == std::vector<std::int64_t>{5, 7, 9});
  CHECK(result.scores == std::vector<double>{1.0 / 32 + 1.0 / 31, 1.0 / 31, 1.0 / 32});
}

TEST_CASE("fusion: a repeated id keeps its best rank and still takes up places") {
  const Lists lists{{4, 4, 4, 6}};
  const Fused result = fused(lists, {1.0, {}, Normalise::none});
  CHECK(result.ids == std::vector<std::int64_t>{4, 6});
  CHECK(result.scores == std::vector<double>{1.0 / 2, 1.0 / 5});
}

TEST_CASE("fusion: equal scores stand in order of first appearance") {
  const Lists lists{{9, 3}, {3, 9}, {}, {8}, {1}};
  CHECK(fused(lists, {60.0, {}, Normalise::none}).ids == std::vector<std::int64_t>{9, 3, 8, 1});
}

TEST_CASE("fusion: per-channel normalisation ends at 1") {
  const Lists lists{{1, 2}, {2}};
  const std::array weights{2.0, 1.0};
  const Fused result = fused(lists, {60.0, weights, Normalise::channel});
  CHECK(result.ids == std::vector<std::int64_t>{2, 1});
  CHECK(result.scores[0] == 1.0);
  CHECK(result.scores[1] == doctest::Approx(2.0 / (2.0 * 61 / 62 + 1.0)));
}

TEST_CASE("fusion: nothing in, nothing out; all weights 0 is no division by 0") {
  CHECK(fused({}, {60.0, {}, Normalise::channel}).ids.empty());
  CHECK(fused({{}, {}}, {60.0, {}, Normalise::channel}).ids.empty());
  const std::array weights{0.0};
  CHECK(fused({{1, 2}}, {60.0, weights, Normalise::channel}).scores ==
        std::vector<double>{0.0, 0.0});
}

TEST_CASE("fusion: ranks tell where each candidate stood") {
  const std::vector<std::vector<std::uint32_t>> lists{{7, 5, 7}, {5, 9}};
  Fusion<std::uint32_t> fusion;
  fusion.fuse(spans_of(lists), {30.0, {}, Normalise::none});
  REQUIRE(fusion.size() == 3);
  std::vector<std::uint32_t> ranks(3);
  fusion.ranks(0, ranks);
  CHECK(ranks == std::vector<std::uint32_t>{1, 2, 0});
  fusion.ranks(1, ranks);
  CHECK(ranks == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("fusion: refuses what it cannot weigh") {
  const std::array two{1.0, 1.0};
  CHECK_THROWS_WITH_AS(fused({{1}}, {60.0, two, Normalise::none}),
                       "weights: expected one a ranking (1), got 2", std::invalid_argument);
  const std::array negative{-1.0};
  CHECK_THROWS_AS(fused({{1}}, {60.0, negative, Normalise::none}), std::invalid_argument);
  CHECK_THROWS_AS(fused({{1}}, {-1.0, {}, Normalise::none}), std::invalid_argument);
}

TEST_CASE("fusion: agrees with a map on random lists, one object used again and again") {
  std::mt19937 random(11);
  Fusion<std::int64_t> fusion;
  for (int round = 0; round < 200; ++round) {
    Lists lists(random() % 5);
    for (auto& list : lists) {
      list.resize(random() % 60);
      for (std::int64_t& id : list) {
        id = static_cast<std::int64_t>(random() % 80) - 40;
      }
    }
    fusion.fuse(spans_of(lists), {60.0, {}, Normalise::none});
    std::map<std::int64_t, double> want;
    for (const auto& list : lists) {
      std::map<std::int64_t, std::size_t> best;
      for (std::size_t i = 0; i < list.size(); ++i) {
        best.try_emplace(list[i], i + 1);
      }
      for (const auto& [id, rank] : best) {
        want[id] += 1.0 / (60.0 + static_cast<double>(rank));
      }
    }
    REQUIRE(fusion.size() == want.size());
    for (std::size_t i = 0; i < fusion.size(); ++i) {
      REQUIRE(fusion.scores()[i] == want.at(fusion.ids()[i]));
    }
  }
}
