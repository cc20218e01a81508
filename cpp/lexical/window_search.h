// Exhaustive search in document order: scores gather in a window of documents that fits the cache.
#pragma once

#include <span>

#include "lexical/allowed_rows.h"
#include "lexical/bm25.h"
#include "lexical/segment.h"
#include "lexical/top_k.h"

namespace oneiros::lexical {

struct WeightedTerm {
  TermId term;
  double weight;  // the term's count in the query times its idf
};

// Offers to `best` every living, allowed document that holds one of the terms. Contributions add
// up in the order of `terms`, so a score's bits depend on nothing but the documents alive.
// REQUIRES: average_length > 0; no term twice.
void search_segments(std::span<const Segment* const> segments, std::span<const WeightedTerm> terms,
                     const Bm25& bm25, double average_length, const AllowedRows& allowed,
                     TopK& best);

}  // namespace oneiros::lexical
