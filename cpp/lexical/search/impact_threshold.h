// What a document must be worth, in whole numbers, to be among the best k.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lexical/search/impact_lists.h"
#include "lexical/search/top_k.h"

namespace oneiros::lexical {

class ImpactThreshold {
 public:
  // `kept` is room for it.
  ImpactThreshold(const TopK& best, KeptCounts& kept) : best_(best), kept_(kept) {}

  // Begins with what `best` and the lists tell.
  void start(const ImpactScale& scale, std::size_t list_count);

  std::size_t k() const { return best_.k(); }
  std::uint32_t least() const { return least_; }

  // A document of this worth is found, that no other call told of. True if the least rose.
  bool keep(std::uint32_t score);
  // Documents that were told of may be told of again. The least remains.
  void forget_kept();

  // The k-th best of some documents is worth this, or will be more. True if the least rose.
  bool raise(std::uint32_t score);

 private:
  // A document that is worth `score` scores at least that much, since each of the lists added 1 at
  // most by rounding up.
  std::uint32_t lowest_of(std::uint32_t score) const;
  bool rise_to(std::uint32_t least);

  const TopK& best_;
  // How many of the documents told of are worth as much, by steps; and how many of them are worth
  // the step `bar_` or more, which are fewer than k.
  KeptCounts& kept_;
  std::size_t bar_ = 0;
  std::size_t above_ = 0;
  double tightness_ = 1.0;  // what a document scores at least, of what it may
  double list_count_ = 0.0;
  std::uint32_t least_ = 1;
};

}  // namespace oneiros::lexical
