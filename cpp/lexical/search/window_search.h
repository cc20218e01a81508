// Exhaustive search in document order: scores gather in a window of documents that fits the cache.
#pragma once

#include <span>

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Offers to `best` every visible, allowed document that holds one of the terms. Contributions add
// up in the order of the terms, so a score's bits depend on nothing but the query and the document.
// REQUIRES: the query has no clauses.
void search_segments(std::span<const SegmentView> segments, const WeighedQuery& query,
                     const Bm25& bm25, const AllowedRows& allowed, TopK& best);

}  // namespace oneiros::lexical
