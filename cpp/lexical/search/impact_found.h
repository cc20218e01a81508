// Exact scores for the candidates of an impact search.
#pragma once

#include "lexical/search/bm25.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/top_k.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers the documents in `space.found` to `best` with their exact scores. Contributions are added
// in the order of the query's terms, as everywhere: the bits do not depend on the search method.
void offer_found(const SegmentView& view, const SealedPostings& postings, const Bm25& bm25,
                 double average_length, ImpactWorkspace& space, TopK& best);

}  // namespace oneiros::lexical
