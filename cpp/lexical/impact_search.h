// Exact top-k search of a sealed segment with dynamic pruning.
#pragma once

#include "lexical/allowed_rows.h"
#include "lexical/bm25.h"
#include "lexical/segment.h"
#include "lexical/top_k.h"
#include "lexical/weighed_query.h"

namespace oneiros::lexical {

// Offers to `best` every visible, allowed document that may be one of the best k, with its exact
// score: the sum that search_segments() comes to, to the bit.
//
// Each posting's impact code stands for a bound on what it earns. Bounds are added up as 16-bit
// numbers, a window of documents at a time, and whoever reaches the k-th score so far is scored
// exactly. Terms whose bounds together stay below that score cannot lift a document alone
// (MaxScore: Turtle and Flood, 1995): their postings are only looked up, for documents that the
// others found. REQUIRES: `postings` is the segment's; all weights are 0 or above.
void search_impacts(const SegmentView& view, const SealedPostings& postings,
                    const WeighedQuery& query, const Bm25& bm25, const AllowedRows& allowed,
                    TopK& best);

}  // namespace oneiros::lexical
