#include "ranking/fusion.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

using oneiros::Candidates;
using oneiros::ChannelHits;
using oneiros::Fusion;
using oneiros::FusionParameters;

namespace {

using Rows = std::vector<std::uint32_t>;
using Scores = std::vector<double>;
using Names = std::vector<std::string>;

const double kNan = std::nan("");

struct Hits {
  Rows rows;
  Scores scores;
};

Candidates candidates_of(const std::vector<Hits>& channels) {
  std::vector<ChannelHits> hits;
  for (const Hits& channel : channels) {
    hits.push_back({channel.rows, std::span<const double>(channel.scores)});
  }
  return Candidates(hits);
}

Scores fused(const char* kind, const FusionParameters& parameters, const Candidates& candidates,
             const Names& channels = {"lexical", "vector"}) {
  Scores relevance(candidates.size(), -1.0);
  Fusion(kind, parameters, channels).fuse(candidates, relevance);
  return relevance;
}

// Rows 7, 5, 9 in this order; 7 by words, 9 by meaning, 5 by both.
Candidates three() { return candidates_of({{{7, 5}, {8.0, 2.0}}, {{5, 9}, {0.75, -0.25}}}); }

}  // namespace

TEST_CASE("Candidates: a union with ranks and raw scores, what is missing, and filling it") {
  Candidates candidates = three();
  CHECK(std::ranges::equal(candidates.rows(), Rows{7, 5, 9}));
  CHECK(std::ranges::equal(candidates.ranks(0), Rows{1, 2, 0}));
  CHECK(std::ranges::equal(candidates.ranks(1), Rows{0, 1, 2}));
  CHECK(candidates.scores(0)[0] == 8.0);
  CHECK(std::isnan(candidates.scores(0)[2]));
  CHECK(candidates.missing(0) == Rows{9});
  CHECK(candidates.missing(1) == Rows{7});
  candidates.fill(0, Scores{1.0});
  candidates.fill(1, Scores{kNan});
  CHECK(candidates.missing(0).empty());
  CHECK(candidates.missing(1) == Rows{7});  // it has none
  CHECK(std::ranges::equal(candidates.scores(0), Scores{8.0, 2.0, 1.0}));
  CHECK(std::ranges::equal(candidates.ranks(0), Rows{1, 2, 0}));  // filling is not finding
  CHECK_THROWS_WITH_AS(candidates.fill(1, Scores{1.0, 2.0}),
                       "scores: expected one a missing row (1), got 2", std::invalid_argument);
}

TEST_CASE("Candidates: a repeated row keeps its first place, floats are widened") {
  const Rows rows{3, 3, 4};
  const std::vector<float> scores{0.5F, 0.25F, 0.1F};
  const ChannelHits hits{rows, std::span<const float>(scores)};
  const Candidates candidates({&hits, 1});
  CHECK(std::ranges::equal(candidates.ranks(0), Rows{1, 3}));
  CHECK(std::ranges::equal(candidates.scores(0), Scores{0.5, static_cast<double>(0.1F)}));
  const ChannelHits torn{rows, std::span<const float>(scores).first(2)};
  CHECK_THROWS_WITH_AS(Candidates({&torn, 1}), "scores: expected one a row (3), got 2",
                       std::invalid_argument);
}

TEST_CASE("Candidates: a channel is there when it found something or was asked to fill") {
  Candidates candidates = candidates_of({{{}, {}}, {{1}, {0.5}}});
  CHECK_FALSE(candidates.is_present(0));
  CHECK(candidates.is_present(1));
  candidates.fill(0, Scores{0.0});
  CHECK(candidates.is_present(0));
}

TEST_CASE("fusion: reciprocal_rank reads ranks alone") {
  CHECK(fused("reciprocal_rank", {{"k", 30.0}}, three()) ==
        Scores{1.0 / 31, 1.0 / 32 + 1.0 / 31, 1.0 / 32});
  const FusionParameters channel{
      {"k", 60.0}, {"weights", Scores{2.0, 1.0}}, {"normalise", std::string("channel")}};
  const double best = 2.0 * (1.0 / 62 / (1.0 / 61)) + 1.0;
  CHECK(fused("reciprocal_rank", channel, three()) ==
        Scores{2.0 / best, 1.0, 1.0 / 62 / (1.0 / 61) / best});
}

TEST_CASE("fusion: weighted_sum of raw and of normalised scores") {
  CHECK(fused("weighted_sum", {}, three()) == Scores{8.0, 2.75, -0.25});
  const auto with = [](const char* words, const char* meaning) {
    return FusionParameters{
        {"weights", Scores{0.5, 0.25}}, {"normalise", Names{words, meaning}}, {"low", 0.5}};
  };
  CHECK(fused("weighted_sum", with("max", "clamp"), three()) ==
        Scores{0.5, 0.5 * 0.25 + 0.25 * 0.75, 0.0});
  CHECK(fused("weighted_sum", with("minmax_floor", "minmax_floor"), three()) ==
        Scores{0.5, 0.5 * 0.5 + 0.25, 0.25 * 0.5});
}

TEST_CASE("fusion: equal scores, single hits and scores not above 0 when normalised") {
  const FusionParameters max{{"normalise", Names{"max", "minmax_floor"}}, {"low", 0.1}};
  const Candidates equal = candidates_of({{{1, 2}, {0.0, 0.0}}, {{3, 4}, {0.3, 0.3}}});
  CHECK(fused("weighted_sum", max, equal) == Scores{0.0, 0.0, 1.0, 1.0});
  const Candidates negative = candidates_of({{{1, 2}, {-1.0, -2.0}}, {{3}, {-5.0}}});
  CHECK(fused("weighted_sum", max, negative) == Scores{0.0, 0.0, 1.0});
}

TEST_CASE("fusion: weighted_mean over the channels that found anything") {
  const FusionParameters mean{{"weights", Scores{3.0, 1.0}}, {"normalise", Names{"max", "none"}}};
  CHECK(fused("weighted_mean", mean, three()) == Scores{0.75, (3.0 * 0.25 + 0.75) / 4.0, 0.0});
  const FusionParameters none{{"weights", Scores{0.0, 1.0}}};
  CHECK(fused("weighted_mean", none, three()) == Scores{0.0, 0.75, 0.0});
  const FusionParameters nothing{{"weights", Scores{0.0, 0.0}}};
  CHECK(fused("weighted_mean", nothing, three()) == Scores{0.0, 0.0, 0.0});
}

TEST_CASE("fusion: weighted_mean leaves out a channel that found nothing") {
  Candidates words = candidates_of({{{7, 5}, {8.0, 2.0}}, {{}, {}}});
  words.append(Rows{9});
  const FusionParameters mean{{"weights", Scores{3.0, 1.0}}, {"normalise", Names{"max", "clamp"}}};
  CHECK(fused("weighted_mean", mean, words) == Scores{1.0, 0.25, 0.0});
  words.fill(1, Scores{0.5, 0.5, 0.5});  // filling is not finding
  CHECK(fused("weighted_mean", mean, words) == Scores{1.0, 0.25, 0.0});
}

TEST_CASE("fusion: retention_weighted_union takes each candidate's own cosine") {
  Candidates candidates = three();
  CHECK(fused("retention_weighted_union", {}, candidates) == Scores{0.1, 0.75, -0.25});
  candidates.fill(1, Scores{0.5});
  CHECK(fused("retention_weighted_union", {}, candidates) == Scores{0.5, 0.75, -0.25});
}

TEST_CASE("fusion: retention_weighted_union without a vector channel goes by words") {
  Candidates words = candidates_of({{{7, 5}, {8.0, 2.0}}, {{}, {}}});
  CHECK(fused("retention_weighted_union", {}, words) == Scores{1.0, 0.25});
  words.fill(1, Scores{kNan, kNan});  // queried, but no candidate has an embedding
  CHECK(fused("retention_weighted_union", {}, words) == Scores{0.1, 0.1});
  const Candidates alone = candidates_of({{{7, 5}, {8.0, 2.0}}});
  CHECK(fused("retention_weighted_union", {}, alone, {"lexical"}) == Scores{1.0, 0.25});
}

TEST_CASE("fusion: blend of both raw scores of all") {
  Candidates candidates = three();
  candidates.fill(0, Scores{4.0});
  candidates.fill(1, Scores{kNan});
  const double weight = 0.4;
  CHECK(fused("blend", {{"weight", weight}}, candidates) ==
        Scores{weight, weight * 0.25 + (1 - weight) * 0.75, weight * 0.5});
}

TEST_CASE("fusion: blend by coverage divides by what the words allow, too") {
  Candidates candidates = three();
  candidates.fill(0, Scores{4.0});
  candidates.fill(1, Scores{kNan});
  const FusionParameters by_coverage{{"weight", 0.5}, {"scale", std::string("coverage")}};
  const Scores plain = fused("blend", {{"weight", 0.5}}, candidates);
  CHECK(fused("blend", by_coverage, candidates) == plain);  // what they allow is not known
  candidates.set_possible(0, 32.0);                         // the best is 8: their mean is 16
  CHECK(fused("blend", {{"weight", 0.5}}, candidates) == plain);
  const Scores scaled = fused("blend", by_coverage, candidates);
  CHECK(scaled[0] == doctest::Approx(0.5 * 8.0 / 16.0).epsilon(1e-15));
  CHECK(scaled[1] == doctest::Approx(0.5 * 2.0 / 16.0 + 0.5 * 0.75).epsilon(1e-15));
  const Fusion fusion("blend", by_coverage, Names{"lexical", "vector"});
  Scores words(3);
  Scores meaning(3);
  fusion.part(candidates, 0, words);
  fusion.part(candidates, 1, meaning);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(0.0 + words[i] + meaning[i] == scaled[i]);
  }
}

TEST_CASE("fusion: blend counts cosines from the baseline") {
  Candidates candidates = three();
  candidates.fill(0, Scores{4.0});
  candidates.fill(1, Scores{kNan});
  candidates.set_cosine_baseline(0.5);
  const FusionParameters even{{"weight", 0.5}};
  const Scores found = fused("blend", even, candidates);
  CHECK(found == Scores{0.5, 0.5 * 0.25 + 0.5 * 0.5, 0.5 * 0.5});  // below it as without a vector
  const Fusion fusion("blend", even, Names{"lexical", "vector"});
  Scores words(3);
  Scores meaning(3);
  fusion.part(candidates, 0, words);
  fusion.part(candidates, 1, meaning);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(0.0 + words[i] + meaning[i] == found[i]);
  }
}

TEST_CASE("fusion: words have what a share of the vectors' weight leaves") {
  Candidates candidates = three();
  candidates.fill(0, Scores{4.0});
  candidates.fill(1, Scores{kNan});
  const FusionParameters most{{"weight", 0.25}};
  const FusionParameters even{{"weight", 0.625}};
  const Scores whole = fused("blend", most, candidates);
  const Scores half = fused("blend", even, candidates);
  candidates.set_vector_share(0.5);  // of 0.75
  CHECK(fused("blend", most, candidates) == half);
  candidates.set_vector_share(1.0);
  CHECK(fused("blend", most, candidates) == whole);
  candidates.set_vector_share(0.0);
  const Scores words = fused("blend", most, candidates);
  CHECK(words[0] == 1.0);  // the best in words
}

TEST_CASE("fusion: what a blend does not know adds nothing to it") {
  const Names names{"lexical", "vector", "temporal"};
  const Candidates candidates = candidates_of({{{1}, {4.0}}, {{1}, {0.5}}, {{2}, {1.0}}});
  const Fusion fusion("blend", {{"weight", 0.5}}, names);
  Scores found(2);
  fusion.fuse(candidates, found);
  CHECK(found == Scores{0.75, 0.0});
  fusion.part(candidates, 2, found);
  CHECK(found == Scores{0.0, 0.0});
}

TEST_CASE("fusion: blend leaves the whole weight to the channel that is there") {
  const Candidates words = candidates_of({{{7, 5}, {8.0, 2.0}}, {{}, {}}});
  CHECK(fused("blend", {{"weight", 0.4}}, words) == Scores{1.0, 0.25});
  const Candidates meaning = candidates_of({{{5, 9}, {0.75, -0.25}}});
  CHECK(fused("blend", {{"weight", 0.4}}, meaning, {"vector"}) == Scores{0.75, 0.0});
}

TEST_CASE("fusion: nothing found, nothing fused") {
  const Candidates none = candidates_of({{{}, {}}, {{}, {}}});
  const FusionParameters floor{{"normalise", Names{"max", "minmax_floor"}}, {"low", 0.1}};
  CHECK(
      fused("reciprocal_rank", {{"k", 1.0}, {"normalise", std::string("channel")}}, none).empty());
  CHECK(fused("weighted_sum", floor, none).empty());
  CHECK(fused("weighted_mean", floor, none).empty());
  CHECK(fused("retention_weighted_union", {}, none).empty());
  CHECK(fused("blend", {{"weight", 0.5}}, none).empty());
}

TEST_CASE("fusion: says what is wrong with its parameters") {
  const auto check = [](const char* kind, const FusionParameters& parameters, const char* message,
                        const Names& channels = {"lexical", "vector"}) {
    CHECK_THROWS_WITH_AS(Fusion(kind, parameters, channels), message, std::invalid_argument);
  };
  check("sum", {}, "fusion: no kind is called \"sum\"");
  check("reciprocal_rank", {}, "reciprocal_rank: parameter k is missing");
  check("reciprocal_rank", {{"k", -1.0}}, "k: must be in [0, 1e9], got -1");
  check("reciprocal_rank", {{"k", 1.0}, {"c", 1.0}}, "reciprocal_rank: takes no parameter c");
  check("reciprocal_rank", {{"k", std::string("x")}}, "k: expected a number");
  check("reciprocal_rank", {{"k", 1.0}, {"weights", Scores{1.0}}},
        "weights: expected one a channel (2), got 1");
  check("reciprocal_rank", {{"k", 1.0}, {"normalise", std::string("max")}},
        "normalise: must be \"none\" or \"channel\", got \"max\"");
  check("weighted_sum", {{"weights", Scores{1.0, kNan}}}, "weights: must be in [0, 1e6], got nan");
  check("weighted_sum", {{"normalise", Names{"max", "best"}}},
        "normalise: must be none, max, clamp or minmax_floor, got \"best\"");
  check("weighted_sum", {{"normalise", Names{"minmax_floor", "none"}}},
        "low: is missing, but minmax_floor needs it");
  check("weighted_mean", {{"low", 1.5}}, "low: must be in [0, 1], got 1.5");
  check("blend", {{"weight", 1.5}}, "weight: must be in [0, 1], got 1.5");
  check("blend", {{"weight", 0.5}, {"scale", std::string("max")}},
        "scale: must be \"best\" or \"coverage\", got \"max\"");
  check("blend", {{"weight", 0.5}}, "blend: needs a channel called \"lexical\" or \"vector\"",
        {"temporal"});
  check("blend", {{"weight", 0.5}}, "channels: \"vector\" stands there twice",
        {"vector", "vector"});
}

TEST_CASE("fusion: pairs add to the words of a blend, and to what is possible") {
  Candidates candidates = three();
  candidates.fill(0, Scores{4.0});
  candidates.fill(1, Scores{kNan});
  candidates.set_possible(0, 30.0);
  const FusionParameters rule{{"weight", 0.5}, {"scale", std::string("coverage")}, {"pairs", 0.25}};
  const FusionParameters without{{"weight", 0.5}, {"scale", std::string("coverage")}};
  CHECK(fused("blend", rule, candidates) == fused("blend", without, candidates));  // none known
  candidates.add_pairs(Scores{0.0, 32.0, 4.0}, 8.0);
  CHECK(candidates.pair_scores().size() == 3);
  CHECK_THROWS_WITH(candidates.add_pairs(Scores{1.0}, 8.0),
                    "pairs: expected one score a row without one (0), got 1");
  // The best is 2 + 8, possible 30 + 2: the scale is the root of 320.
  const double scale = std::sqrt(320.0);
  const Scores got = fused("blend", rule, candidates);
  CHECK(got[0] == doctest::Approx(0.5 * 8.0 / scale).epsilon(1e-15));
  CHECK(got[1] == doctest::Approx(0.5 * 10.0 / scale + 0.5 * 0.75).epsilon(1e-15));
  const Fusion fusion("blend", rule, Names{"lexical", "vector"});
  Scores words(3);
  Scores meaning(3);
  Scores pairs(3);
  fusion.part(candidates, 0, words);
  fusion.part(candidates, 1, meaning);
  fusion.pair_part(candidates, pairs);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(words[i] + meaning[i] + pairs[i] == got[i]);
  }
  candidates.append(std::vector<std::uint32_t>{77});
  candidates.add_pairs(Scores{1.0}, 8.0);
  CHECK(candidates.pair_scores().size() == 4);
  CHECK_THROWS_WITH(fused("blend", {{"weight", 0.5}, {"pairs", 1.5}}, candidates),
                    "pairs: must be in [0, 1], got 1.5");
}
