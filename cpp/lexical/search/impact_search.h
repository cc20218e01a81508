// Exact top-k search of a sealed segment with dynamic pruning.
#pragma once

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers to `best` every visible, allowed document that can be among the best k, with its exact
// score: the same bits as an exhaustive search computes.
//
// Each posting's impact code gives an upper bound on its contribution. Bounds are added up as
// 16-bit integers; only documents whose sum reaches the k-th best score so far are scored exactly.
// With few allowed documents the search goes term by term (sparse_search.h), otherwise by windows
// of documents (dense_search.h). Uses the calling thread's workspace: not reentrant.
//
// REQUIRES: `postings` belongs to the segment; all weights are >= 0.
void search_impacts(const SegmentView& view, const SealedPostings& postings,
                    const WeighedQuery& query, const Bm25& bm25, const AllowedRows& allowed,
                    TopK& best);

}  // namespace oneiros::lexical
