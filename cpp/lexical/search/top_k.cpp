#include "lexical/search/top_k.h"

#include <array>
#include <cmath>
#include <span>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kBuckets = 256;
constexpr std::size_t kFewHits = 16;

}  // namespace

// A bucket sort by score, then a sort within buckets: comparisons of nearby scores are
// unpredictable branches, on which a plain sort spends its time.
void rank(std::vector<Hit>& hits) {
  if (hits.size() <= kFewHits) {
    std::ranges::sort(hits, ranks_before);
    return;
  }
  double lowest = hits.front().score;
  double highest = lowest;
  for (const Hit& hit : hits) {
    lowest = std::min(lowest, hit.score);
    highest = std::max(highest, hit.score);
  }
  const double factor = static_cast<double>(kBuckets - 1) / (highest - lowest);
  if (!std::isfinite(factor) || factor == 0.0) {
    std::ranges::sort(hits, ranks_before);
    return;
  }
  // Monotone in the score.
  const auto bucket_of = [&](const Hit& hit) {
    return static_cast<std::size_t>((highest - hit.score) * factor);
  };
  std::array<std::size_t, kBuckets + 1> ends{};  // counts, then the end of each bucket
  for (const Hit& hit : hits) {
    ++ends[bucket_of(hit) + 1];
  }
  for (std::size_t bucket = 1; bucket <= kBuckets; ++bucket) {
    ends[bucket] += ends[bucket - 1];
  }
  std::vector<Hit> ranked(hits.size());
  for (const Hit& hit : hits) {
    ranked[ends[bucket_of(hit)]++] = hit;
  }
  std::size_t begin = 0;
  for (const std::size_t end : std::span(ends).first(kBuckets)) {
    if (end > begin + 1) {
      std::ranges::sort(std::span(ranked).subspan(begin, end - begin), ranks_before);
    }
    begin = end;
  }
  hits.swap(ranked);
}

}  // namespace oneiros::lexical
