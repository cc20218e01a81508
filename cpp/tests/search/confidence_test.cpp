#include "search/confidence.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace oneiros::search;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ConfidenceModel kModel{.constant = -2.0, .words = 3.0, .meaning = 1.5};

}  // namespace

TEST_CASE("lead_in_words: worked values and odd inputs") {
  std::vector<double> hits{4.0, 3.0, 2.0};
  CHECK(lead_in_words(4.0, hits, 8.0) == 0.5);  // the tenth hit has 0
  hits.resize(10, 1.0);
  CHECK(lead_in_words(4.0, hits, 8.0) == 0.375);
  CHECK(lead_in_words(0.5, hits, 8.0) == 0.0);
  CHECK(lead_in_words(kNan, hits, 8.0) == 0.0);
  CHECK(lead_in_words(99.0, hits, 8.0) == 1.0);
  CHECK(lead_in_words(0.0, {}, 8.0) == 0.0);
  CHECK_FALSE(lead_in_words(4.0, hits, 0.0).has_value());
  CHECK_FALSE(lead_in_words(4.0, hits, kNan).has_value());
}

TEST_CASE("lead_in_meaning: worked values and odd inputs") {
  CHECK(lead_in_meaning(0.75, std::array{0.75, 0.5}) == 0.5);
  std::vector<double> hits(12, 0.0);
  hits.at(0) = 0.5;
  CHECK(lead_in_meaning(0.5, hits) == 0.5);
  CHECK(lead_in_meaning(0.9, std::array{0.9, -0.5}) == doctest::Approx(1.4 / 1.5));
  CHECK(lead_in_meaning(kNan, hits) == 0.0);
  CHECK(lead_in_meaning(-0.5, hits) == 0.0);
  CHECK(lead_in_meaning(1.0, std::array{1.0, 1.0}) == 0.0);
  CHECK_FALSE(lead_in_meaning(0.9, std::array{0.9}).has_value());
  CHECK_FALSE(lead_in_meaning(0.9, {}).has_value());
}

TEST_CASE("confidence: in [0, 1], and it never falls as a lead grows") {
  for (int words = 0; words <= 20; ++words) {
    for (int meaning = 0; meaning <= 20; ++meaning) {
      const double value = confidence(kModel, {words / 20.0, meaning / 20.0}).value();
      CHECK(value >= 0.0);
      CHECK(value <= 1.0);
      if (words < 20) {
        CHECK(confidence(kModel, {(words + 1) / 20.0, meaning / 20.0}).value() > value);
      }
      if (meaning < 20) {
        CHECK(confidence(kModel, {words / 20.0, (meaning + 1) / 20.0}).value() > value);
      }
    }
  }
}

TEST_CASE("confidence: a lead without a value takes the other's") {
  CHECK(confidence(kModel, {0.25, {}}) == confidence(kModel, {0.25, 0.25}));
  CHECK(confidence(kModel, {{}, 0.25}) == confidence(kModel, {0.25, 0.25}));
  CHECK_FALSE(confidence(kModel, {}).has_value());
  CHECK(confidence(kModel, {0.25, 0.25}).value() == doctest::Approx(1 / (1 + std::exp(-0.25))));
}
