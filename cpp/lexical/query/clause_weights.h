// The weights of a query's clauses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "lexical/filters/allowed_rows.h"
#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"
#include "lexical/search/term_statistics.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// By prefix of the query: the number of documents of `rows` with any of its terms. Terms that
// `statistics` counts in no document are left out.
std::map<std::string, std::uint64_t, std::less<>> count_prefixes(
    const ClauseQuery& query, const Bm25& bm25, const TermStatistics& statistics,
    const AllowedRows& rows, std::span<const SegmentView> segments);

// Weighs a query. A term has its idf, a phrase the sum of its terms' idf with multiplicity. A
// prefix counts as one term, whose df is in `statistics.prefix_df`. All are multiplied by the
// clause's count; fields have no influence.
WeighedQuery weigh_clauses(const ClauseQuery& query, const Bm25& bm25,
                           const TermStatistics& statistics);

}  // namespace oneiros::lexical
