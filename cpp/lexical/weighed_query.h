// A query's terms and what they count.
#pragma once

#include <vector>

#include "analysis/analyzer.h"

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

}  // namespace oneiros::lexical
