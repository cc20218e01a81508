#include "lexical/search/bm25.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "lexical/search/top_k.h"

using namespace oneiros::lexical;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string refusal(const char* variant, double k1, double b, double delta,
                    double half_length = 0.0) {
  try {
    make_bm25(variant, k1, b, delta, half_length);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

}  // namespace

// N = 10, df = 4, tf = 3, dl = 6, average 4, k1 = 1.2, b = 0.75: B = 0.25 + 0.75 * 1.5 = 1.375.
TEST_CASE("BM25: each variant by hand") {
  const Bm25 bm25{.variant = Bm25Variant::kLucene, .k1 = 1.2, .b = 0.75, .delta = 0.5};
  const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-14); };
  CHECK(idf(Bm25Variant::kLucene, 10, 4) == near(0.8938178760220964));     // ln(22 / 9)
  CHECK(idf(Bm25Variant::kRobertson, 10, 4) == near(0.3677247801253174));  // ln(13 / 9)
  CHECK(idf(Bm25Variant::kAtire, 10, 4) == near(0.9162907318741551));      // ln(5 / 2)
  CHECK(idf(Bm25Variant::kBm25Plus, 10, 4) == near(1.0116009116784799));   // ln(11 / 4)
  CHECK(idf(Bm25Variant::kBm25L, 10, 4) == near(0.8938178760220964));      // ln(22 / 9)
  CHECK(Saturation<Bm25Variant::kLucene>(bm25, 4)(3, 6) == near(3.0 / 4.65));
  CHECK(Saturation<Bm25Variant::kRobertson>(bm25, 4)(3, 6) == near(3.0 / 4.65));
  CHECK(Saturation<Bm25Variant::kAtire>(bm25, 4)(3, 6) == near(6.6 / 4.65));
  CHECK(Saturation<Bm25Variant::kBm25Plus>(bm25, 4)(3, 6) == near(0.5 + 6.6 / 4.65));
  // c = 3 / 1.375 = 24 / 11
  CHECK(Saturation<Bm25Variant::kBm25L>(bm25, 4)(3, 6) ==
        near(2.2 * (24.0 / 11 + 0.5) / (1.2 + 24.0 / 11 + 0.5)));
}

// Average 4, half length 12: b' = 0.75 / 10, so B = 0.925 + 0.075 * 1.5 = 1.0375.
TEST_CASE("BM25: the half length weakens the length normalisation of short texts") {
  Bm25 bm25{.k1 = 1.2, .b = 0.75, .half_length = 12.0};
  CHECK(length_strength(bm25, 4) == 0.075);
  CHECK(length_strength(bm25, 12) == 0.375);
  CHECK(length_strength(bm25, 36) == 0.675);
  CHECK(Saturation<Bm25Variant::kLucene>(bm25, 4)(3, 6) ==
        doctest::Approx(3.0 / (3.0 + 1.2 * 1.0375)).epsilon(1e-14));
  bm25.weights = make_field_weights(2.0, 1.5);  // units of half a word
  CHECK(length_strength(bm25, 24) == 0.375);
  bm25.half_length = 0.0;
  CHECK(length_strength(bm25, 4) == 0.75);
}

TEST_CASE("BM25: Robertson's idf falls below 0 past half of the documents") {
  CHECK(idf(Bm25Variant::kRobertson, 10, 5) == 0.0);
  CHECK(idf(Bm25Variant::kRobertson, 10, 6) < 0.0);
  CHECK(idf(Bm25Variant::kAtire, 10, 10) == 0.0);
  CHECK(idf(Bm25Variant::kLucene, 10, 10) > 0.0);
}

TEST_CASE("BM25: the ends of the ranges give numbers") {
  for (const double k1 : {0.0, 1.2, 1e100}) {
    for (const double b : {0.0, 1.0}) {
      for (const double delta : {0.0, 1e100}) {
        const Bm25 bm25 = make_bm25("bm25l", k1, b, delta);
        CHECK(std::isfinite(Saturation<Bm25Variant::kLucene>(bm25, 3.5)(1, 1e7)));
        CHECK(std::isfinite(Saturation<Bm25Variant::kAtire>(bm25, 3.5)(1, 1e7)));
        CHECK(std::isfinite(Saturation<Bm25Variant::kBm25Plus>(bm25, 3.5)(1, 1e7)));
        CHECK(std::isfinite(Saturation<Bm25Variant::kBm25L>(bm25, 1e7)(1, 1)));
      }
    }
  }
}

TEST_CASE("BM25: names, and what is refused in which words") {
  CHECK(make_bm25("bm25+", 1, 1, 1).variant == Bm25Variant::kBm25Plus);
  CHECK(make_bm25("bm25plus", 1, 1, 1).variant == Bm25Variant::kBm25Plus);
  CHECK(make_bm25("bm25l", 1, 1, 1).variant == Bm25Variant::kBm25L);
  CHECK(refusal("bm26", 1, 0.5, 1) ==
        "variant: must be lucene, robertson, atire, bm25plus (or bm25+) or bm25l, got 'bm26'");
  CHECK(refusal("lucene", -0.5, 0.5, 1) == "k1: must be a number from 0 to 1e+100, got -0.5");
  CHECK(refusal("lucene", 1, 0.5, 1, -1) ==
        "half_length: must be a number from 0 to 1e+100, got -1");
  CHECK(refusal("lucene", kNaN, 0.5, 1) == "k1: must be a number from 0 to 1e+100, got nan");
  CHECK(refusal("lucene", kInfinity, 0.5, 1) == "k1: must be a number from 0 to 1e+100, got inf");
  CHECK(refusal("lucene", 1, 1.5, 1) == "b: must be a number from 0 to 1, got 1.5");
  CHECK(refusal("lucene", 1, kNaN, 1) == "b: must be a number from 0 to 1, got nan");
  CHECK(refusal("bm25l", 1, 0.5, -1) == "delta: must be a number from 0 to 1e+100, got -1");
}

TEST_CASE("TopK: ties go to the smaller row, in any order of arrival") {
  TopK best(3);
  CHECK(best.threshold() == -kInfinity);
  for (const Hit& hit :
       {Hit{1.0, 9}, Hit{-2.0, 1}, Hit{1.0, 4}, Hit{1.0, 7}, Hit{0.5, 0}, Hit{1.0, 2}}) {
    best.offer(hit);
  }
  CHECK(best.threshold() == 1.0);
  const std::vector<Hit> hits = best.take();
  REQUIRE(hits.size() == 3);
  CHECK(hits[0].row == 2);
  CHECK(hits[1].row == 4);
  CHECK(hits[2].row == 7);
  CHECK(best.take().empty());
}

TEST_CASE("TopK: the best of any number, whatever the scores") {
  std::mt19937 random(5);
  constexpr std::size_t kHits = 3'000;
  std::vector<std::uint32_t> rows(kHits);
  for (std::uint32_t row = 0; row < kHits; ++row) {
    rows[row] = row;
  }
  const double least = std::numeric_limits<double>::denorm_min();
  const double most = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> kinds{
      {1.5},        {0.0, -0.0},        {1.0, 2.0, 3.0, 4.0},     {-7.25, 0.0, 1e-300, 1e300},
      {least, 0.0}, {most, -most, 1.0}, {1.0, 1.0 + 1e-16, 1e12}, {},
  };
  for (const std::vector<double>& scores : kinds) {
    for (const std::size_t k : {1U, 2U, 15U, 16U, 17U, 100U, 2'999U, 3'000U, 4'000U}) {
      std::ranges::shuffle(rows, random);
      TopK best(k);
      std::vector<Hit> all;
      for (const std::uint32_t row : rows) {
        const double score = scores.empty() ? std::ldexp(static_cast<double>(random()), -28) - 4.0
                                            : scores[random() % scores.size()];
        all.push_back({.score = score, .row = row});
        best.offer(all.back());
      }
      std::ranges::sort(all, ranks_before);
      all.resize(std::min(k, kHits));
      if (k <= kHits) {
        CHECK(best.threshold() == all.back().score);
      }
      const std::vector<Hit> hits = best.take();
      CHECK(std::ranges::equal(hits, all, [](const Hit& left, const Hit& right) {
        return left.score == right.score && left.row == right.row;
      }));
    }
  }
}
