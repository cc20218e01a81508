#include "lexical/impact_found.h"

#include <algorithm>

#include "threads/pause.h"

namespace oneiros::lexical {

void offer_found(const SegmentView& view, const SealedPostings& postings, const Bm25& bm25,
                 double average_length, ImpactWorkspace& space, TopK& best) {
  std::vector<Candidate>& found = space.found;
  std::vector<double>& scores = space.exact_scores;
  const DocumentLengths lengths = view.segment->documents().lengths();
  const DocumentRows rows = view.segment->documents().rows();
  std::ranges::sort(found, {}, &Candidate::document);
  scores.assign(found.size(), 0.0);
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, average_length);
    for (const std::uint32_t place : space.in_order) {
      pause_here();
      const ImpactList& list = space.lists[place];
      look_up(list, found, 0, [&](Candidate& one, const PackedBlock& block, std::size_t at) {
        scores[static_cast<std::size_t>(&one - found.data())] +=
            list.weight * saturation(block.frequency(at, postings.cells()), lengths[one.document]);
      });
    }
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (scores[i] >= best.threshold()) {
      best.offer({.score = scores[i], .row = rows[found[i].document]});
    }
  }
}

}  // namespace oneiros::lexical
