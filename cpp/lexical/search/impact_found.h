// The documents that an impact search found, and their exact scores.
#pragma once

#include "lexical/search/bm25.h"
#include "lexical/search/impact_lists.h"
#include "lexical/search/top_k.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers the workspace's found documents with their exact scores. Contributions add up in the order
// of the query's terms, as everywhere.
void offer_found(const SegmentView& view, const SealedPostings& postings, const Bm25& bm25,
                 double average_length, ImpactWorkspace& space, TopK& best);

}  // namespace oneiros::lexical
