// A query as the documents alive at one moment weigh it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexical/query/clauses.h"

namespace oneiros::lexical {

struct WeightedTerm {
  TermId term;
  double weight;  // the term's count in the query times its idf
};

// A clause, and how often the query has it.
struct WeighedClause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;
  std::uint32_t count = 1;
  // A word: each term once, with its weight. A phrase or prefix: as Clause has them; the clause
  // weighs as a whole.
  std::vector<WeightedTerm> terms;
  std::vector<std::uint32_t> positions;
  double weight = 0.0;
  bool matches_nothing = false;
};

// Whatever is scored by it, then or later, is scored by one measure.
struct WeighedQuery {
  // Of a query of words alone; no term twice, those that no document held left out.
  std::vector<WeightedTerm> terms;
  // Of any other; then there are no terms.
  std::vector<WeighedClause> clauses;
  std::size_t minimum_should_match = 0;
  double average_length = 0;  // > 0 if a document held a term of the query

  bool is_empty() const { return terms.empty() && clauses.empty(); }
};

}  // namespace oneiros::lexical
