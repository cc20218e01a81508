// Exact top-k search of a sealed segment with dynamic pruning.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers to `best` every visible, allowed document that may be one of the best k, with its exact
// score: the sum that search_segments() comes to, to the bit.
//
// Each posting's impact code stands for a bound on what it earns. Bounds are added up as 16-bit
// numbers, and whoever reaches the k-th score so far is scored exactly. Where few documents are
// allowed, those go from term to term (sparse_search.h), else a window of documents at a time is
// added up (dense_search.h). REQUIRES: `postings` is the segment's; all weights are 0 or above.
void search_impacts(const SegmentView& view, const SealedPostings& postings,
                    const WeighedQuery& query, const Bm25& bm25, const AllowedRows& allowed,
                    TopK& best);

}  // namespace oneiros::lexical
