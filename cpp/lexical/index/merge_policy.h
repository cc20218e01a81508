// Which sealed segments become one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oneiros::lexical {

struct SegmentSize {
  std::size_t live_count;
  std::size_t dead_count;
  std::size_t bytes = 0;

  bool is_worth_rewriting() const { return live_count == 0 || dead_count > live_count; }
};

// Places of the segments to merge now; empty when all is well. In turn: one that holds nothing
// alive, one that is more dead than alive, then `fan_in` of one level, where level n has
// fan_in^n <= live_count < fan_in^(n + 1). Each merge of a level lifts its documents to the next,
// so a document is written at most log(N) / log(fan_in) times, and again only when as many died.
// Of a level, the smallest first, and at least two, but no more than have `most_bytes` together: so
// what is huge is written once, however much follows.
// REQUIRES: fan_in >= 2.
std::vector<std::size_t> choose_merge(std::span<const SegmentSize> segments, std::size_t fan_in,
                                      std::size_t most_bytes);

// Places of the segments to merge for searches to be fast, when writing has come to rest: those
// that together are not far below the next larger one, so that few are left, and those that
// together are small, so that a small index is one. Empty when each has kRestRatio times what all
// smaller ones have together, and is not small with them, or they would have over `most_bytes`.
inline constexpr std::size_t kRestRatio = 4;
inline constexpr std::size_t kRestSmall = std::size_t{1} << 14;
std::vector<std::size_t> choose_rest_merge(std::span<const SegmentSize> segments,
                                           std::size_t most_bytes);

}  // namespace oneiros::lexical
