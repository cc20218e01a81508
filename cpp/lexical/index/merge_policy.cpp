// A tiered merge policy with levels by powers of the fan-in, as in LSM trees.
#include "lexical/index/merge_policy.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace oneiros::lexical {

namespace {

// Keeps the first segments up to that many bytes in total; none if that leaves a single one.
void keep_within(std::span<const SegmentSize> segments, std::size_t most_bytes,
                 std::vector<std::size_t>& places) {
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (kept < places.size() && segments[places[kept]].bytes <= most_bytes - bytes) {
    bytes += segments[places[kept++]].bytes;
  }
  places.resize(kept < 2 ? 0 : kept);
}

}  // namespace

std::vector<std::size_t> choose_merge(std::span<const SegmentSize> segments, std::size_t fan_in,
                                      std::size_t most_bytes) {
  assert(fan_in >= 2);
  std::vector<std::vector<std::size_t>> levels;
  for (std::size_t place = 0; place < segments.size(); ++place) {
    if (segments[place].is_worth_rewriting()) {
      return {place};
    }
    std::size_t level = 0;
    for (std::size_t rest = segments[place].live_count; rest >= fan_in; rest /= fan_in) {
      ++level;
    }
    if (levels.size() <= level) {
      levels.resize(level + 1);
    }
    levels[level].push_back(place);
  }
  for (std::vector<std::size_t>& places : levels) {
    if (places.size() < fan_in) {
      continue;
    }
    std::ranges::stable_sort(places, {}, [&](std::size_t place) { return segments[place].bytes; });
    places.resize(fan_in);
    keep_within(segments, most_bytes, places);
    if (!places.empty()) {
      std::ranges::sort(places);
      return places;
    }
  }
  return {};
}

std::vector<std::size_t> choose_rest_merge(std::span<const SegmentSize> segments,
                                           std::size_t most_bytes) {
  std::vector<std::size_t> places(segments.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return segments[place].live_count; });
  std::size_t below = 0;
  std::size_t merged = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t size = segments[places[i]].live_count;
    if (i != 0 && (size < kRestRatio * below || below + size <= kRestSmall)) {
      merged = i + 1;
    }
    below += size;
  }
  places.resize(merged);
  keep_within(segments, most_bytes, places);
  std::ranges::sort(places);
  return places;
}

}  // namespace oneiros::lexical
