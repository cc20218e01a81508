#include "lexical/index/merge_policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

using namespace oneiros::lexical;
using Places = std::vector<std::size_t>;

namespace {
constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
}

TEST_CASE("choose_merge: nothing while no level is full") {
  CHECK(choose_merge({}, 2, kAny).empty());
  const std::vector<SegmentSize> sizes{{100, 0}, {100, 100}, {10, 3}, {1, 0}};
  CHECK(choose_merge(sizes, 3, kAny).empty());
}

TEST_CASE("choose_merge: the dead first, then the mostly dead, then a level") {
  CHECK(choose_merge(std::vector<SegmentSize>{{5, 0}, {0, 9}, {5, 0}}, 2, kAny) == Places{1});
  CHECK(choose_merge(std::vector<SegmentSize>{{5, 0}, {5, 0}, {4, 5}}, 2, kAny) == Places{2});
  CHECK(choose_merge(std::vector<SegmentSize>{{9, 0}, {1, 0}, {8, 0}, {15, 0}, {7, 0}}, 3, kAny)
            .empty());
  CHECK(choose_merge(std::vector<SegmentSize>{{9, 0}, {1, 0}, {10, 0}, {15, 0}, {3, 0}}, 3, kAny) ==
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
    for (Places places = choose_merge(segments, kFanIn, kAny); !places.empty();
         places = choose_merge(segments, kFanIn, kAny)) {
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

TEST_CASE("merges: no more bytes together than may be, and never a segment alone") {
  const std::vector<SegmentSize> sizes{{4, 0, 50}, {5, 0, 20}, {4, 0, 70}, {5, 0, 30}};
  CHECK(choose_merge(sizes, 4, 170) == Places{0, 1, 2, 3});
  CHECK(choose_merge(sizes, 4, 169) == Places{0, 1, 3});
  CHECK(choose_merge(sizes, 4, 50) == Places{1, 3});
  CHECK(choose_merge(sizes, 4, 49).empty());
  const std::vector<SegmentSize> resting{{5, 0, 50}, {7, 0, 20}, {6, 0, 70}, {8, 0, 30}};
  CHECK(choose_rest_merge(resting, 170) == Places{0, 1, 2, 3});
  CHECK(choose_rest_merge(resting, 120) == Places{0, 2});
  CHECK(choose_rest_merge(resting, 60).empty());
  // What is mostly dead is rewritten, however large.
  CHECK(choose_merge(std::vector<SegmentSize>{{4, 5, 1'000}}, 2, 10) == Places{0});
}

TEST_CASE("choose_rest_merge: what is not far below the next larger one, and a small index whole") {
  constexpr std::size_t kLarge = kRestSmall;
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{kLarge, 0}, {kLarge / 8, 0}}, kAny).empty());
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{kLarge, 0}, {kLarge / 3, 0}}, kAny) ==
        Places{0, 1});
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{kLarge - 1, 0}, {1, 0}}, kAny) == Places{0, 1});
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{kLarge, 0}, {1, 0}}, kAny).empty());
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{9, 0}, {kLarge, 0}, {1, 0}}, kAny) ==
        Places{0, 2});
  CHECK(choose_rest_merge(std::vector<SegmentSize>{{9, 0}}, kAny).empty());
}
