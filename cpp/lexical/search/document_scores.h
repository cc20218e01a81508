// Exact scores of given documents.
#pragma once

#include <span>

#include "lexical/search/bm25.h"
#include "lexical/search/window_search.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Adds the document's score to scores[i] for each location in this segment, with the same bits as
// search_segments() computes. Terms are added in the order of the query. REQUIRES: locations.size()
// == scores.size(); the documents are below the view's limit. Cost: a look-up per term and
// document; queries with clauses match the clauses on the documents.
void score_documents(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                     std::span<const Location> locations, std::span<double> scores);

}  // namespace oneiros::lexical
