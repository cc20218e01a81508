// The order of an impact search: prepare lists, try the term-by-term search if a filter is given,
// otherwise or on its advice search by windows, then score the candidates exactly.
#include "lexical/search/impact_search.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "lexical/search/dense_search.h"
#include "lexical/search/impact_found.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/impact_threshold.h"
#include "lexical/search/sparse_search.h"

namespace oneiros::lexical {

namespace {

// The number of a term's best documents that certainly include k results; SIZE_MAX if unknown
// because of a filter. Dead documents may be among the best.
std::size_t reached_count(const SegmentView& view, const AllowedRows& allowed, std::size_t k) {
  const DocumentTable& documents = view.segment->documents();
  if (!allowed.are_all() || view.document_limit != documents.size()) {
    return std::numeric_limits<std::size_t>::max();
  }
  return k + documents.dead_count();
}

void search(const SegmentView& view, const SealedPostings& postings, const WeighedQuery& query,
            const Bm25& bm25, const AllowedRows& allowed, TopK& best, ImpactWorkspace& space) {
  const ImpactScale scale =
      find_lists(postings, query, bm25, reached_count(view, allowed, best.k()), space);
  if (space.lists.empty()) {
    return;
  }
  ImpactThreshold threshold(best, space.kept);
  threshold.start(scale, space.lists.size());
  if (allowed.are_all() || !search_sparsely(view, allowed, threshold, space)) {
    search_densely(view, allowed, threshold, space);
  }
  std::erase_if(space.found, [&](const Candidate& one) { return one.score < threshold.least(); });
  offer_found(view, postings, bm25, query.average_length, space, best);
}

}  // namespace

void search_impacts(const SegmentView& view, const SealedPostings& postings,
                    const WeighedQuery& query, const Bm25& bm25, const AllowedRows& allowed,
                    TopK& best) {
  ImpactWorkspace& space = impact_workspace();
  space.is_clear = false;
  search(view, postings, query, bm25, allowed, best, space);
  space.is_clear = true;
}

}  // namespace oneiros::lexical
