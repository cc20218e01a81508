// A parsed query with the term weights of one moment's statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexical/query/clauses.h"

namespace oneiros::lexical {

// A term with its weight.
struct WeightedTerm {
  TermId term;
  double weight;  // the term's count in the query times its idf
};

// A clause of a query with operators, and its number of repetitions.
struct WeighedClause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;
  std::uint32_t count = 1;
  // A word: each term once, with its weight. A phrase or prefix: terms and positions as in Clause,
  // and one weight for the clause.
  std::vector<WeightedTerm> terms;
  std::vector<std::uint32_t> positions;
  double weight = 0.0;
  bool matches_nothing = false;
};

// Everything scored with the same object is comparable, even if the index changed in between: the
// statistics are frozen in the weights and in `average_length`.
struct WeighedQuery {
  // Plain queries: distinct terms, without those that no document contains.
  std::vector<WeightedTerm> terms;
  // Queries with operators; `terms` is then empty.
  std::vector<WeighedClause> clauses;
  std::size_t minimum_should_match = 0;
  double average_length = 0;  // > 0 if any document contains a term of the query

  bool is_empty() const { return terms.empty() && clauses.empty(); }
};

}  // namespace oneiros::lexical
