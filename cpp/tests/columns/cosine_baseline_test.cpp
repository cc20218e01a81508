#include "columns/cosine_baseline.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using oneiros::cosine_baseline;

namespace {

using Scores = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("the baseline of cosines is that of the twentieth part that is least alike") {
  CHECK(cosine_baseline({}) == 0.0);
  CHECK(cosine_baseline(Scores(19, 0.75)) == 0.0);
  CHECK(cosine_baseline(Scores(20, 0.75)) == 0.75);
  CHECK(cosine_baseline(Scores(20, 0.35)) == 0.0);
  CHECK(cosine_baseline(Scores(20, 0.6)) == 0.6);
  CHECK(cosine_baseline(Scores(20, 0.475)) == doctest::Approx(0.475 * 0.5));
  CHECK(cosine_baseline(Scores(20, 0.4125)) == doctest::Approx(0.4125 * (3.0 / 16.0 - 2.0 / 64.0)));
  CHECK(cosine_baseline(Scores(20, -0.5)) == 0.0);
  CHECK(cosine_baseline(Scores(20, 1.0)) == 0.95);
  Scores few(39, 0.8);
  few[11] = 0.6;
  CHECK(cosine_baseline(few) == 0.6);
  few.push_back(0.7);  // the second of forty
  CHECK(cosine_baseline(few) == 0.7);
  few.resize(60, kNan);  // without a vector
  CHECK(cosine_baseline(few) == 0.7);
}
