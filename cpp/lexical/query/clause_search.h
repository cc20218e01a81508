// Exhaustive search for queries with operators: matching documents and exact scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lexical/filters/allowed_rows.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Documents, ascending, with parallel scores.
struct ScoredDocuments {
  std::vector<DocumentNumber> documents;
  std::vector<double> scores;
};

// The visible, allowed documents of the segment that match the query, optionally restricted to
// `within` (ascending). A document matches if it has every required clause, no excluded one, and as
// many of the others as the query demands; at least one if none is required. Scores are added
// clause by clause, so their bits depend only on query, statistics and document. REQUIRES: the
// query has clauses.
ScoredDocuments match_clauses(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                              const AllowedRows& allowed,
                              const std::vector<DocumentNumber>* within = nullptr);

// Offers the matching documents of all segments to `best`.
void search_clauses(std::span<const SegmentView> segments, const WeighedQuery& query,
                    const Bm25& bm25, const AllowedRows& allowed, TopK& best);

// The visible, allowed rows whose documents have every required clause and no excluded one, as
// bits.
std::vector<std::uint8_t> permitted_rows(std::span<const SegmentView> segments,
                                         const WeighedQuery& query, const Bm25& bm25,
                                         const AllowedRows& allowed);

}  // namespace oneiros::lexical
