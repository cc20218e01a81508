// The lower bound, in integer units, that a document must reach to be among the best k.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lexical/search/impact_lists.h"
#include "lexical/search/top_k.h"

namespace oneiros::lexical {

// Tracks the threshold of an impact search from bounds alone, before exact scores are known. The
// threshold never falls. Not thread-safe.
class ImpactThreshold {
 public:
  // `kept` is memory for the histogram; it must outlive the object.
  ImpactThreshold(const TopK& best, KeptCounts& kept) : best_(best), kept_(kept) {}

  // Starts with the score that `best` or the lists' summaries already guarantee.
  void start(const ImpactScale& scale, std::size_t list_count);

  std::size_t k() const { return best_.k(); }
  // The current threshold, at least 1.
  std::uint32_t least() const { return least_; }

  // Records the bound of a document. Returns true if the threshold rose. REQUIRES: each document at
  // most once since start() or forget_kept().
  bool keep(std::uint32_t score);
  // Forgets the recorded documents, so that they may be recorded again. The threshold stays.
  void forget_kept();

  // States that k documents have at least this bound, now or later. Returns true if it rose.
  bool raise(std::uint32_t score);

 private:
  // The least score, in units, of a document with this bound: rounding up added at most 1 per list,
  // and a bound is exceeded at most by the factor `tightness_`.
  std::uint32_t lowest_of(std::uint32_t score) const;
  bool rise_to(std::uint32_t least);

  const TopK& best_;
  // The histogram of recorded documents, and the number of those at or above step `bar_`, which is
  // less than k.
  KeptCounts& kept_;
  std::size_t bar_ = 0;
  std::size_t above_ = 0;
  double tightness_ = 1.0;  // least share of its bound that a document scores
  double list_count_ = 0.0;
  std::uint32_t least_ = 1;
};

}  // namespace oneiros::lexical
