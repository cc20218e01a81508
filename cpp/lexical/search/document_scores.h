// Exact scores of given documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/search/bm25.h"
#include "lexical/search/window_search.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// The documents of one segment among located ones, ascending, and their places among these.
struct LocatedDocuments {
  std::vector<DocumentNumber> documents;
  std::vector<std::size_t> places;
};
LocatedDocuments documents_in(const Segment& segment, std::span<const Location> locations);

// Adds the document's score to scores[i] for each location in this segment, with the same bits as
// search_segments() computes. Terms are added in the order of the query. REQUIRES: locations.size()
// == scores.size(); the documents are below the view's limit. Cost: a look-up per term and
// document; queries with clauses match the clauses on the documents.
void score_documents(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                     std::span<const Location> locations, std::span<double> scores);

// The same for a query without clauses. Adds scores only at places where `is_wanted` is not 0, and
// counts in `held` the terms that each of the documents has. REQUIRES: is_wanted.size() ==
// scores.size(), held.size() == located.documents.size().
void score_and_count(const Segment& segment, const WeighedQuery& query, const Bm25& bm25,
                     const LocatedDocuments& located, std::span<const std::uint8_t> is_wanted,
                     std::span<double> scores, std::span<std::uint32_t> held);

}  // namespace oneiros::lexical
