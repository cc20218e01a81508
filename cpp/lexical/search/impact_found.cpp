// Exact scoring of candidates: term by term in query order, by interleaved look-ups.
#include "lexical/search/impact_found.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threads/pause.h"

namespace oneiros::lexical {

namespace {

// Documents of equal length are consecutive, so one look-up serves a range.
void find_lengths(std::span<const Candidate> found, const DocumentLengths& lengths,
                  std::vector<std::uint32_t>& lengths_of_found) {
  lengths_of_found.clear();
  DocumentLengths::Range range{.end = 0, .length = 0};
  for (const Candidate& one : found) {
    if (one.document >= range.end) {
      range = lengths.range_of(one.document);
    }
    lengths_of_found.push_back(range.length);
  }
}

// The frequencies of the list's term in the found documents that contain it.
std::span<const FoundPosting> find_postings(const ImpactList& list, const ImpactCells& cells,
                                            ImpactWorkspace& space) {
  std::vector<FoundPosting>& postings = space.found_postings;
  postings.resize(space.found.size());
  std::size_t count = 0;
  look_up(list, space.found, 0,
          [&](std::size_t i, const PackedBlock& block, std::size_t at, bool is_there) {
            const ImpactCell& cell = cells[block.codes()[at]];
            std::uint32_t frequency = cell.lowest_frequency;
            if (!cell.tells_frequency()) {
              frequency = block.frequency(at, cells);
            }
            postings[count] = {.i = static_cast<std::uint32_t>(i), .frequency = frequency};
            count += is_there ? 1U : 0U;
          });
  return std::span(postings).first(count);
}

}  // namespace

void offer_found(const SegmentView& view, const SealedPostings& postings, const Bm25& bm25,
                 double average_length, ImpactWorkspace& space, TopK& best) {
  std::vector<Candidate>& found = space.found;
  std::vector<double>& scores = space.exact_scores;
  const DocumentRows rows = view.segment->documents().rows();
  std::ranges::sort(found, {}, &Candidate::document);
  for (const Candidate& one : found) {
    rows.prefetch(one.document);
  }
  find_lengths(found, view.segment->documents().lengths(), space.lengths);
  scores.assign(found.size(), 0.0);
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, average_length);
    for (const std::uint32_t place : space.in_order) {
      pause_here();
      const ImpactList& list = space.lists[place];
      for (const auto& [i, frequency] : find_postings(list, postings.cells(), space)) {
        scores[i] += list.weight * saturation(frequency, space.lengths[i]);
      }
    }
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (scores[i] >= best.threshold()) {
      best.offer({.score = scores[i], .row = rows[found[i].document]});
    }
  }
}

}  // namespace oneiros::lexical
