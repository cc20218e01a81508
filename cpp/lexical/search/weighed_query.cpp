// The greatest score that a query can give, and the part of it that no document gives.
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

double missing_weight(const WeighedQuery& query) {
  return query.missing_count * std::max(query.missing_weight, 0.0);
}

// Of all words, the missing ones included.
double whole_weight(const WeighedQuery& query) {
  double sum = missing_weight(query);
  for (const WeightedTerm& term : query.terms) {
    sum += std::max(term.weight, 0.0);
  }
  for (const WeighedClause& clause : query.clauses) {
    if (clause.occur != Occur::kMustNot && !clause.is_missing()) {
      sum += weight_of(clause);
    }
  }
  return sum;
}

}  // namespace

double possible_score(const WeighedQuery& query, const Bm25& bm25) {
  return whole_weight(query) * greatest_saturation(bm25);
}

double missing_share(const WeighedQuery& query) {
  const double whole = whole_weight(query);
  return whole > 0.0 ? missing_weight(query) / whole : 1.0;
}

}  // namespace oneiros::lexical
