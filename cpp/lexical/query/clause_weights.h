// The weights of a query's clauses.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// The statistics of one view for the terms of a query.
struct ClauseStatistics {
  std::uint64_t document_count = 0;
  double average_length = 0;
  std::unordered_map<TermId, std::uint64_t> df;  // for all terms of the query
};

// Weighs a query. A term has its idf, a phrase the sum of its terms' idf with multiplicity. A
// prefix counts as one term whose df is the number of documents in `segments` with any of its
// terms. All are multiplied by the clause's count; fields have no influence.
WeighedQuery weigh_clauses(const ClauseQuery& query, const Bm25& bm25,
                           const ClauseStatistics& statistics,
                           std::span<const SegmentView> segments);

}  // namespace oneiros::lexical
