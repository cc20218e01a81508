// The choice of sealed segments to merge.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oneiros::lexical {

// The size of a segment as the policy sees it.
struct SegmentSize {
  std::size_t live_count;
  std::size_t dead_count;
  std::size_t bytes = 0;

  // True if it has no living or more dead than living documents.
  bool is_worth_rewriting() const { return live_count == 0 || dead_count > live_count; }
};

// The segments to merge now, by index; empty if none. In this order: a segment without living
// documents; one with more dead than living; `fan_in` segments of one level, where level n has
// fan_in^n <= live_count < fan_in^(n + 1). Each merge lifts its documents one level, so a document
// is written at most log(N) / log(fan_in) times, and again only when as many have died. Of a level,
// the smallest are merged first, at least two, up to `most_bytes` in total, so that very large
// segments are written once. REQUIRES: fan_in >= 2.
std::vector<std::size_t> choose_merge(std::span<const SegmentSize> segments, std::size_t fan_in,
                                      std::size_t most_bytes);

// The segments to merge when writing has paused, for faster searches: those whose total is not far
// below the next larger one, and those that together are small. Empty if each has kRestRatio times
// the size of all smaller ones together, and is not small with them, or if the limit `most_bytes`
// would be exceeded.
inline constexpr std::size_t kRestRatio = 4;
inline constexpr std::size_t kRestSmall = std::size_t{1} << 14;
std::vector<std::size_t> choose_rest_merge(std::span<const SegmentSize> segments,
                                           std::size_t most_bytes);

}  // namespace oneiros::lexical
