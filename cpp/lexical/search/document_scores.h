// Exact scores of given documents, without a search.
#pragma once

#include <span>

#include "lexical/search/bm25.h"
#include "lexical/search/window_search.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Adds to scores[i] the score of the document at locations[i], if it is one of the segment's: the
// bits that search_segments() comes to. REQUIRES: locations.size() == scores.size(); the documents
// are below the view's limit.
void score_documents(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                     std::span<const Location> locations, std::span<double> scores);

}  // namespace oneiros::lexical
