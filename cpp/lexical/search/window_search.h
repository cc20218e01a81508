// Exhaustive search in document order, and the choice of the method per segment.
#pragma once

#include <span>

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers to `best` every visible, allowed document that contains one of the terms. Contributions
// are added in the order of the terms, so the bits of a score depend on nothing but query,
// statistics and document. Sealed segments use search_impacts() if no weight is negative. REQUIRES:
// the query has no clauses.
void search_segments(std::span<const SegmentView> segments, const WeighedQuery& query,
                     const Bm25& bm25, const AllowedRows& allowed, TopK& best);

}  // namespace oneiros::lexical
