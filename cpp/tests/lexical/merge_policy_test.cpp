#include "lexical/merge_policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

using namespace oneiros::lexical;
using Places = std::vector<std::size_t>;

TEST_CASE("choose_merge: nothing while no level is full") {
  CHECK(choose_merge({}, 2).empty());
  const std::vector<SegmentSize> sizes{{100, 0}, {100, 100}, {10, 3}, {1, 0}};
  CHECK(choose_merge(sizes, 3).empty());
}

TEST_CASE("choose_merge: the dead first, then the mostly dead, then a level") {
  CHECK(choose_merge(std::vector<SegmentSize>{{5, 0}, {0, 9}, {5, 0}}, 2) == Places{1});
  CHECK(choose_merge(std::vector<SegmentSize>{{5, 0}, {5, 0}, {4, 5}}, 2) == Places{2});
  CHECK(choose_merge(std::vector<SegmentSize>{{9, 0}, {1, 0}, {8, 0}, {15, 0}, {7, 0}}, 3).empty());
  CHECK(choose_merge(std::vector<SegmentSize>{{9, 0}, {1, 0}, {10, 0}, {15, 0}, {3, 0}}, 3) ==
        Places{0, 2, 3});
}

TEST_CASE("choose_merge: writes stay within the bound, segments few") {
  constexpr std::size_t kFanIn = 4;
  constexpr std::size_t kDocuments = 20'000;
  std::vector<SegmentSize> segments;
  std::size_t written = 0;
  std::size_t most_segments = 0;
  for (std::size_t i = 0; i < kDocuments; ++i) {
    segments.push_back({1, 0});
    for (Places places = choose_merge(segments, kFanIn); !places.empty();
         places = choose_merge(segments, kFanIn)) {
      REQUIRE(places.size() == kFanIn);
      std::size_t merged = 0;
      std::ranges::sort(places, std::ranges::greater{});
      for (const std::size_t place : places) {
        merged += segments[place].live_count;
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(place));
      }
      segments.push_back({merged, 0});
      written += merged;
    }
    most_segments = std::max(most_segments, segments.size());
  }
  CHECK(written <= kDocuments * 8);  // log4(20,000) = 7.1
  CHECK(most_segments <= 8 * (kFanIn - 1));
}
