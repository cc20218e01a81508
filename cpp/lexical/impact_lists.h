// What a search of a sealed segment works on: the lists of the query's terms, and room.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "lexical/bm25.h"
#include "lexical/sealed_postings.h"
#include "lexical/weighed_query.h"
#include "lexical/window_loops.h"

namespace oneiros::lexical {

// The most that a document's postings together may be worth.
inline constexpr std::uint16_t kMostImpactScore = std::numeric_limits<std::uint16_t>::max();

// In documents of up to a length, what a posting of a list is worth at most.
struct LengthBound {
  std::uint32_t longest;
  std::uint32_t code;  // that is worth it
  std::uint32_t most;
};

// A query's term with postings in the segment.
struct ImpactList {
  PackedList postings;
  double weight = 0.0;
  double worth = 0.0;       // what a posting earns at most
  std::uint32_t place = 0;  // in the query
  std::uint32_t most = 0;   // what a posting is worth at most, here and further on
  // What a posting is worth at most in a document of a length or above: a part of all lists'
  // bounds, more and more from place to place as the length falls.
  std::size_t first_bound = 0;
  std::size_t bound_count = 0;
  std::span<const LengthBound> bounds;
  std::size_t bound = 0;  // how many of those are in use
  // Where the search stands: postings before are done with. Only in lists that are read through.
  std::size_t block_index = 0;
  std::size_t position = 0;
  PackedBlock block;
  // Where look-ups begin: a block at or before any document that is still to come.
  std::size_t look_up_from = 0;
  const std::uint16_t* values = nullptr;  // by code, at least 1

  bool is_exhausted() const { return block_index == postings.block_count(); }
  DocumentNumber document() const { return block.document(position); }

  // REQUIRES: from call to call, the length does not fall; but for start().
  void use_bound_of(std::uint32_t length) {
    while (bound > 0 && bounds[bound - 1].longest < length) {
      --bound;
    }
    most = bound == 0 ? 0 : bounds[bound - 1].most;
  }

  // The same of any length.
  std::uint32_t most_from(std::uint32_t length) const {
    const auto after = std::ranges::partition_point(
        bounds, [length](const LengthBound& one) { return one.longest >= length; });
    return after == bounds.begin() ? 0 : std::prev(after)->most;
  }

  void start() {
    bound = bounds.size();
    block_index = 0;
    position = 0;
    block = postings.block(0);
  }
  void next_block() {
    position = 0;
    if (++block_index < postings.block_count()) {
      block = postings.block(block_index);
    }
  }
};

// Calls visit(candidate, block, place) for each of the candidates, which ascend, that the list
// holds, from the block `index` on. Blocks are asked for some candidates ahead: most of the time
// goes into waiting for them.
template <typename Visit>
void look_up(const ImpactList& list, std::span<Candidate> candidates, std::size_t index,
             Visit visit) {
  constexpr std::size_t kAhead = 8;
  std::array<PackedBlock, kAhead> blocks;
  for (std::size_t i = 0; i < candidates.size() + kAhead; ++i) {
    if (i >= kAhead) {
      Candidate& one = candidates[i - kAhead];
      const PackedBlock& block = blocks[i % kAhead];
      const std::size_t at = block.lower_bound(one.document);
      if (at < block.size() && block.document(at) == one.document) {
        visit(one, block, at);
      }
    }
    if (i < candidates.size()) {
      index = list.postings.find_block(candidates[i].document, index);
      blocks[i % kAhead] = list.postings.block(index);
      blocks[i % kAhead].prefetch();
    }
  }
}

using CodeValues = std::array<std::uint16_t, ImpactCells::kCount>;

// What a search works in: too large for a stack, and kept for the next one.
struct ImpactWorkspace {
  // Without scores and marks between two searches.
  std::array<std::uint16_t, kSparseWindow> scores{};
  std::array<std::uint8_t, kSparseWindow / kMarkedDocuments> marks{};
  bool is_clear = true;

  std::array<WindowCandidate, kSparseWindow> window_candidates;
  std::vector<ImpactList> lists;  // by ascending worth
  std::vector<CodeValues> values;
  std::vector<LengthBound> bounds;
  std::vector<std::uint32_t> in_order;  // the lists in the order of the query
  std::vector<std::uint32_t> below;     // what the lists before each are worth together
  std::vector<Candidate> candidates;
  std::vector<Candidate> fresh;   // of one list
  std::vector<Candidate> merged;  // with those
  std::vector<Candidate> found;
  std::vector<std::uint32_t> partial_scores;
  std::vector<double> exact_scores;   // of those found
  std::vector<std::uint32_t> lowest;  // the k best that they score at least
};

// The thread's own, empty.
ImpactWorkspace& impact_workspace();

// From scores to what postings are worth, and back.
struct ImpactScale {
  double scale = 0.0;      // from scores to whole numbers
  double tightness = 1.0;  // what a document scores at least, of what it may
  double reached = 0.0;    // a score that `count` documents reach
};

// Finds the lists of the query's terms, by ascending worth, and what each code of them is worth.
// Leaves none where the segment holds no term.
ImpactScale find_lists(const SealedPostings& postings, const WeighedQuery& query, const Bm25& bm25,
                       std::size_t count, ImpactWorkspace& space);

}  // namespace oneiros::lexical
