// What a search of a sealed segment works on: the lists of the query's terms, and room.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "lexical/postings/sealed_postings.h"
#include "lexical/search/bm25.h"
#include "lexical/search/weighed_query.h"
#include "lexical/search/window_loops.h"

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

// Calls visit(i, block, place, is_there) for each of the candidates, which ascend: whether the list
// holds the i-th, and where, from the block `index` on. Blocks are asked for some candidates ahead:
// most of the time goes into waiting for them.
template <typename Visit>
void look_up(const ImpactList& list, std::span<const Candidate> candidates, std::size_t index,
             Visit visit) {
  constexpr std::size_t kAhead = 8;
  std::array<std::uint32_t, kAhead> blocks;
  std::size_t asked = 0;
  for (std::size_t begin = 0; begin < candidates.size(); begin += kSideBySide) {
    for (; asked < std::min(begin + kAhead, candidates.size()); ++asked) {
      const std::size_t before = index;
      index = list.postings.find_block(candidates[asked].document, index);
      blocks[asked % kAhead] = static_cast<std::uint32_t>(index);
      if (asked == 0 || index != before) {
        list.postings.prefetch(index);
      }
    }
    std::array<PackedBlock, kSideBySide> some;
    std::array<std::uint32_t, kSideBySide> differences;
    for (std::size_t j = 0; j < kSideBySide; ++j) {
      const std::size_t i = std::min(begin + j, candidates.size() - 1);
      some[j] = list.postings.block(blocks[i % kAhead]);
      differences[j] = candidates[i].document - some[j].first();
    }
    const std::array<std::size_t, kSideBySide> places = find_places(some, differences);
    for (std::size_t i = begin; i < std::min(begin + kSideBySide, candidates.size()); ++i) {
      const std::size_t j = i - begin;
      visit(i, some[j], places[j], some[j].difference(places[j]) == differences[j]);
    }
  }
}

// Of the i-th document found, how often it holds a term.
struct FoundPosting {
  std::uint32_t i;
  std::uint32_t frequency;
};

// How many documents are worth how much, in steps: coarser than scores, finer than what tells the
// k-th best from its neighbours.
inline constexpr std::uint32_t kKeptStep = 64;
using KeptCounts = std::array<std::uint32_t, (kMostImpactScore + 1) / kKeptStep>;

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
  std::vector<double> exact_scores;    // of those found
  std::vector<std::uint32_t> lengths;  // of those found
  std::vector<FoundPosting> found_postings;
  KeptCounts kept;
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
