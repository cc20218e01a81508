// How much each clause of a query tells.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Of the documents alive at one moment.
struct ClauseStatistics {
  std::uint64_t document_count = 0;
  double average_length = 0;
  std::unordered_map<TermId, std::uint64_t> df;  // of all terms of a query
};

// A term weighs its idf, a phrase the sum of its terms', as often as they stand in it. A prefix
// weighs as one term that is in every document that holds one of its terms: those of `segments` are
// counted. All times how often the query has the clause; fields do not matter.
WeighedQuery weigh_clauses(const ClauseQuery& query, const Bm25& bm25,
                           const ClauseStatistics& statistics,
                           std::span<const SegmentView> segments);

}  // namespace oneiros::lexical
