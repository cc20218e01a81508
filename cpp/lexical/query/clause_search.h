// Exhaustive search by clauses: which documents match, and their exact scores.
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

// Documents, ascending, with their scores.
struct ScoredDocuments {
  std::vector<DocumentNumber> documents;
  std::vector<double> scores;
};

// Those of the segment that match the query, among visible and allowed ones: all, or with `within`
// these (ascending). A document matches that has every clause that must be, none that must not be,
// and of the others as many as the query asks for; at least one, if it has none that must be.
// Scores add up clause by clause, so their bits depend on nothing but the query and the document.
// REQUIRES: the query has clauses.
ScoredDocuments match_clauses(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                              const AllowedRows& allowed,
                              const std::vector<DocumentNumber>* within = nullptr);

// Offers them to `best`.
void search_clauses(std::span<const SegmentView> segments, const WeighedQuery& query,
                    const Bm25& bm25, const AllowedRows& allowed, TopK& best);

// Sets the bit of every visible, allowed row that has each clause that must be and none that must
// not be, whatever else it has; as AllowedRows reads bits.
std::vector<std::uint8_t> permitted_rows(std::span<const SegmentView> segments,
                                         const WeighedQuery& query, const Bm25& bm25,
                                         const AllowedRows& allowed);

}  // namespace oneiros::lexical
