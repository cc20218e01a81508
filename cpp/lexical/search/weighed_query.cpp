// The greatest score that a query can give.
#include "lexical/search/weighed_query.h"

#include <algorithm>

namespace oneiros::lexical {

namespace {

double weight_of(const WeighedClause& clause) {
  if (clause.kind != ClauseKind::kWord) {
    return std::max(clause.weight, 0.0);
  }
  double sum = 0.0;
  for (const WeightedTerm& term : clause.terms) {
    sum += std::max(term.weight, 0.0);
  }
  return sum;
}

}  // namespace

double possible_score(const WeighedQuery& query, const Bm25& bm25) {
  double sum = query.missing_count * std::max(query.missing_weight, 0.0);
  for (const WeightedTerm& term : query.terms) {
    sum += std::max(term.weight, 0.0);
  }
  for (const WeighedClause& clause : query.clauses) {
    if (clause.occur != Occur::kMustNot && !clause.is_missing()) {
      sum += weight_of(clause);
    }
  }
  return sum * greatest_saturation(bm25);
}

}  // namespace oneiros::lexical
