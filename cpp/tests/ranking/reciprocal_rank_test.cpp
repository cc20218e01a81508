#include "ranking/reciprocal_rank.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

using oneiros::RankedUnion;
using oneiros::ReciprocalRank;

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

Fused fused(const Lists& lists, const ReciprocalRank& rule) {
  Fused result;
  oneiros::fused_best_first(spans_of(lists), rule, 100, result.ids, result.scores);
  return result;
}

}  // namespace

TEST_CASE("reciprocal rank: sums in the order of the lists") {
  const Lists lists{{7, 5}, {5, 9}};
  const Fused result = fused(lists, {30.0, {}, false});
  CHECK(result.ids == std::vector<std::int64_t>{5, 7, 9});
  CHECK(result.scores == std::vector<double>{1.0 / 32 + 1.0 / 31, 1.0 / 31, 1.0 / 32});
}

TEST_CASE("reciprocal rank: a repeated id keeps its best rank and still takes up places") {
  const Lists lists{{4, 4, 4, 6}};
  const Fused result = fused(lists, {1.0, {}, false});
  CHECK(result.ids == std::vector<std::int64_t>{4, 6});
  CHECK(result.scores == std::vector<double>{1.0 / 2, 1.0 / 5});
}

TEST_CASE("reciprocal rank: equal scores stand in order of first appearance") {
  const Lists lists{{9, 3}, {3, 9}, {}, {8}, {1}};
  CHECK(fused(lists, {60.0, {}, false}).ids == std::vector<std::int64_t>{9, 3, 8, 1});
}

TEST_CASE("reciprocal rank: normalised by channel it ends at 1") {
  const Lists lists{{1, 2}, {2}};
  const Fused result = fused(lists, {60.0, {2.0, 1.0}, true});
  CHECK(result.ids == std::vector<std::int64_t>{2, 1});
  CHECK(result.scores[0] == 1.0);
  CHECK(result.scores[1] == doctest::Approx(2.0 / (2.0 * 61 / 62 + 1.0)));
}

TEST_CASE("reciprocal rank: nothing in, nothing out, and no division by weights of 0") {
  CHECK(fused({}, {60.0, {}, true}).ids.empty());
  CHECK(fused({{}, {}}, {60.0, {}, true}).ids.empty());
  CHECK(fused({{1, 2}}, {60.0, {0.0}, true}).scores == std::vector<double>{0.0, 0.0});
}

TEST_CASE("reciprocal rank: refuses what it cannot weigh") {
  CHECK_THROWS_WITH_AS(fused({{1}}, {60.0, {1.0, 1.0}, false}),
                       "weights: expected one a ranking (1), got 2", std::invalid_argument);
  CHECK_THROWS_AS(fused({{1}}, {60.0, {-1.0}, false}), std::invalid_argument);
  CHECK_THROWS_AS(fused({{1}}, {-1.0, {}, false}), std::invalid_argument);
}

TEST_CASE("ranked union: ranks tell where each id stood") {
  const std::vector<std::vector<std::uint32_t>> lists{{7, 5, 7}, {5, 9}};
  RankedUnion<std::uint32_t> all;
  all.build(spans_of(lists));
  CHECK(std::ranges::equal(all.ids(), std::vector<std::uint32_t>{7, 5, 9}));
  CHECK(std::ranges::equal(all.ranks(0), std::vector<std::uint32_t>{1, 2, 0}));
  CHECK(std::ranges::equal(all.ranks(1), std::vector<std::uint32_t>{0, 1, 2}));
  CHECK(all.longest() == 3);
}

TEST_CASE("reciprocal rank: ids with equal low bits are distinguished") {
  const Lists lists{{1, (std::int64_t{1} << 32) + 1, -1, (std::int64_t{1} << 32) - 1}};
  CHECK(fused(lists, {60.0, {}, false}).ids == lists[0]);
}

TEST_CASE("reciprocal rank: agrees with a map on random lists, one object used again and again") {
  std::mt19937 random(11);
  RankedUnion<std::uint32_t> all;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::vector<std::uint32_t>> lists(random() % 5);
    for (auto& list : lists) {
      list.resize(random() % (round % 40 == 0 ? 3'000 : 60));
      for (std::uint32_t& id : list) {
        id = static_cast<std::uint32_t>(random() % 80) - 40U;
      }
    }
    const ReciprocalRank rule{60.0, {}, round % 3 == 0};
    all.build(spans_of(lists));
    std::vector<double> scores(all.size());
    oneiros::fuse(rule, all, scores);
    std::map<std::uint32_t, double> want;
    double best = 0.0;
    for (const auto& list : lists) {
      std::map<std::uint32_t, std::size_t> ranks;
      for (std::size_t i = 0; i < list.size(); ++i) {
        ranks.try_emplace(list[i], i + 1);
      }
      for (const auto& [id, rank] : ranks) {
        const double part = 1.0 / (60.0 + static_cast<double>(rank));
        want[id] += round % 3 == 0 ? part / (1.0 / 61.0) : part;
        best = std::max(best, want[id]);
      }
    }
    REQUIRE(all.size() == want.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double sum = want.at(all.ids()[i]);
      REQUIRE(scores[i] == (round % 3 == 0 ? sum / best : sum));
    }
    // Without the ranks, the same sums to the bit.
    Lists wide;
    for (const auto& list : lists) {
      wide.emplace_back(list.begin(), list.end());
    }
    const Fused result = fused(wide, rule);
    REQUIRE(result.ids.size() == std::min<std::size_t>(100, all.size()));
    for (std::size_t i = 0; i < result.ids.size(); ++i) {
      const double sum = want.at(static_cast<std::uint32_t>(result.ids[i]));
      REQUIRE(result.scores[i] == (round % 3 == 0 ? sum / best : sum));
    }
  }
}
