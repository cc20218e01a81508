// The working set of a search of a sealed segment: the query's posting lists and reusable memory.
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

// The greatest sum of the contributions of one document, in integer units.
inline constexpr std::uint16_t kMostImpactScore = std::numeric_limits<std::uint16_t>::max();

// The greatest contribution of a list's postings in documents of at least some length.
struct LengthBound {
  std::uint32_t longest;
  // The code with that contribution.
  std::uint32_t code;
  std::uint32_t most;
};

// The postings of a query term in the segment, with the position of the search in them.
// Contributions are integers on a scale common to the lists (ImpactScale).
struct ImpactList {
  PackedList postings;
  double weight = 0.0;
  // The greatest contribution of a posting, as a score.
  double worth = 0.0;
  std::uint32_t place = 0;  // the term's index in the query
  // The greatest contribution among the remaining postings.
  std::uint32_t most = 0;
  // This list's range in ImpactWorkspace::bounds: steps of the greatest contribution by length, the
  // longest first, rising as the length falls.
  std::size_t first_bound = 0;
  std::size_t bound_count = 0;
  std::span<const LengthBound> bounds;
  std::size_t bound = 0;  // the number of steps still in use
  // The position of the search; earlier postings are done. Used only if the list is read through.
  std::size_t block_index = 0;
  std::size_t position = 0;
  PackedBlock block;
  // Where look-ups start: a block at or before any later document.
  std::size_t look_up_from = 0;
  // Contribution by code, at least 1.
  const std::uint16_t* values = nullptr;

  // True if all postings are done.
  bool is_exhausted() const { return block_index == postings.block_count(); }
  DocumentNumber document() const { return block.document(position); }

  // Lowers `most` to documents of this length or more. REQUIRES: lengths do not decrease from call
  // to call, except after start().
  void use_bound_of(std::uint32_t length) {
    while (bound > 0 && bounds[bound - 1].longest < length) {
      --bound;
    }
    most = bound == 0 ? 0 : bounds[bound - 1].most;
  }

  // The same for any length, by binary search, without a change.
  std::uint32_t most_from(std::uint32_t length) const {
    const auto after = std::ranges::partition_point(
        bounds, [length](const LengthBound& one) { return one.longest >= length; });
    return after == bounds.begin() ? 0 : std::prev(after)->most;
  }

  // Moves to the first posting.
  void start() {
    bound = bounds.size();
    block_index = 0;
    position = 0;
    block = postings.block(0);
  }
  // Moves to the first posting of the next block.
  void next_block() {
    position = 0;
    if (++block_index < postings.block_count()) {
      block = postings.block(block_index);
    }
  }
};

// Calls visit(i, block, place, is_there) for each candidate: whether the list contains its
// document, and where. The search starts at block `index`. Blocks are prefetched several candidates
// ahead and searched four at a time, since the time goes into waiting for memory. REQUIRES:
// candidates ascend.
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

// The frequency of a term in the i-th found document.
struct FoundPosting {
  std::uint32_t i;
  std::uint32_t frequency;
};

// A histogram of candidates by bound, in steps that are coarser than scores but fine enough to
// separate the k-th best from most others.
inline constexpr std::uint32_t kKeptStep = 64;
using KeptCounts = std::array<std::uint32_t, (kMostImpactScore + 1) / kKeptStep>;

// Contribution by code.
using CodeValues = std::array<std::uint16_t, ImpactCells::kCount>;

// The memory of a search: too large for the stack, and reused by the thread's next search.
struct ImpactWorkspace {
  // Window scores and marks; all zero between searches.
  std::array<std::uint16_t, kSparseWindow> scores{};
  std::array<std::uint8_t, kSparseWindow / kMarkedDocuments> marks{};
  bool is_clear = true;

  std::array<WindowCandidate, kSparseWindow> window_candidates;
  std::vector<ImpactList> lists;  // by ascending worth
  std::vector<CodeValues> values;
  std::vector<LengthBound> bounds;
  std::vector<std::uint32_t> in_order;  // indices of `lists` in query order
  std::vector<std::uint32_t> below;     // by list: the sum of `most` of the lists before it
  std::vector<Candidate> candidates;
  std::vector<Candidate> fresh;   // new ones of one list
  std::vector<Candidate> merged;  // candidates and fresh
  std::vector<Candidate> found;
  std::vector<std::uint32_t> partial_scores;
  std::vector<double> exact_scores;    // of `found`
  std::vector<std::uint32_t> lengths;  // of `found`
  std::vector<FoundPosting> found_postings;
  KeptCounts kept;
};

// The calling thread's workspace, cleared.
ImpactWorkspace& impact_workspace();

// The relation between scores and integer contributions.
struct ImpactScale {
  double scale = 0.0;      // integer units per score
  double tightness = 1.0;  // least share of a document's bound that it scores
  double reached = 0.0;    // a score that `count` documents are known to reach
};

// Fills `space.lists` with the lists of the query's terms by ascending worth, and their
// contributions by code. Leaves it empty if the segment contains none of the terms. `count` is the
// number of results for which `reached` is sought.
ImpactScale find_lists(const SealedPostings& postings, const WeighedQuery& query, const Bm25& bm25,
                       std::size_t count, ImpactWorkspace& space);

}  // namespace oneiros::lexical
