#include "association/value_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

using oneiros::ValueCounts;

TEST_CASE("value counts: the bound is at most the n-th largest, and close to it") {
  std::mt19937 random(5);
  for (const double most : {1.0, 0.37, 40.0, 1e-280, 1e300}) {
    ValueCounts counts;
    counts.begin(most);
    std::vector<double> values{most};
    counts.add(most);
    std::uniform_real_distribution<double> drawn(0.0, most);
    for (int i = 0; i < 400; ++i) {
      values.push_back(drawn(random));
      counts.add(values.back());
      if (i % 3 == 0) {
        counts.remove(values[values.size() / 2]);
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
      }
    }
    std::ranges::sort(values, std::greater());
    for (std::size_t n = 1; n <= values.size(); ++n) {
      const double bound = counts.bound_of_nth(n);
      CHECK_MESSAGE(bound <= values[n - 1], n);
      CHECK_MESSAGE(bound >= values[n - 1] - most / 100, n);
    }
    CHECK(counts.bound_of_nth(values.size() + 1) == 0.0);
  }
}

TEST_CASE("value counts: where all values are 0 or next to it, every bound is 0") {
  for (const double most : {0.0, 5e-324, 1e-300}) {
    ValueCounts counts;
    counts.begin(most);
    counts.add(most);
    CHECK(counts.bound_of_nth(1) == 0.0);
  }
}
