// Exhaustive search in document order: scores gather in a window of documents that fits the cache.
#pragma once

#include <span>
#include <vector>

#include "lexical/allowed_rows.h"
#include "lexical/bm25.h"
#include "lexical/segment.h"
#include "lexical/top_k.h"

namespace oneiros::lexical {

struct WeightedTerm {
  TermId term;
  double weight;  // the term's count in the query times its idf
};

// A query as the documents alive at one moment weigh it. Whatever is scored by it, then or later,
// is scored by one measure.
struct WeighedQuery {
  std::vector<WeightedTerm> terms;  // no term twice; those that no document held are left out
  double average_length = 0;        // > 0 if there are terms
};

// Offers to `best` every visible, allowed document that holds one of the terms. Contributions add
// up in the order of the terms, so a score's bits depend on nothing but the query and the document.
void search_segments(std::span<const SegmentView> segments, const WeighedQuery& query,
                     const Bm25& bm25, const AllowedRows& allowed, TopK& best);

}  // namespace oneiros::lexical
