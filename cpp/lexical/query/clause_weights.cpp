// Weights by clause. Prefixes need a count of documents with any of their terms, hence a pass over
// the postings; equal prefixes are counted once.
#include "lexical/query/clause_weights.h"

#include <algorithm>
#include <map>
#include <vector>

#include "lexical/query/clause_reader.h"

namespace oneiros::lexical {

namespace {

class Weighing {
 public:
  Weighing(const Bm25& bm25, const ClauseStatistics& statistics,
           std::span<const SegmentView> segments)
      : bm25_(bm25), statistics_(statistics), segments_(segments) {}

  WeighedClause weigh(const Clause& clause, std::uint32_t count) {
    WeighedClause weighed{.occur = clause.occur,
                          .kind = clause.kind,
                          .fields = clause.fields,
                          .count = count,
                          .terms = {},
                          .positions = clause.positions,
                          .weight = 0.0,
                          .matches_nothing = clause.matches_nothing};
    if (clause.kind == ClauseKind::kWord) {
      weigh_word(clause, weighed);
    } else {
      for (const TermId term : clause.terms) {
        weighed.terms.push_back({.term = term, .weight = idf_of(df(term))});
      }
      if (clause.kind == ClauseKind::kPhrase) {
        weigh_phrase(weighed);
      } else {
        weigh_prefix(weighed);
      }
    }
    return weighed;
  }

 private:
  // Each term once, with its multiplicity; optional ones that no document contains are dropped.
  void weigh_word(const Clause& clause, WeighedClause& weighed) const {
    for (const TermId term : clause.terms) {
      const auto known = std::ranges::find(weighed.terms, term, &WeightedTerm::term);
      const double weight = weighed.count * idf_of(df(term));
      if (known != weighed.terms.end()) {
        known->weight += weight;
      } else if (df(term) != 0) {
        weighed.terms.push_back({.term = term, .weight = weight});
      } else if (clause.occur != Occur::kShould) {
        weighed.matches_nothing = true;
      }
    }
    weighed.matches_nothing = weighed.matches_nothing || weighed.terms.empty();
  }

  static void weigh_phrase(WeighedClause& weighed) {
    for (const WeightedTerm& term : weighed.terms) {
      weighed.weight += weighed.count * term.weight;
    }
  }

  void weigh_prefix(WeighedClause& weighed) {
    std::erase_if(weighed.terms, [&](const WeightedTerm& term) { return df(term.term) == 0; });
    std::vector<TermId> terms;
    for (const WeightedTerm& term : weighed.terms) {
      terms.push_back(term.term);
    }
    weighed.matches_nothing = terms.empty();
    weighed.weight =
        weighed.occur == Occur::kMustNot ? 0.0 : weighed.count * idf_of(df_of_any(terms));
  }

  // The same prefix may occur with several operators and fields; it is evaluated once.
  std::uint64_t df_of_any(const std::vector<TermId>& terms) {
    if (terms.size() <= 1) {
      return terms.empty() ? 0 : df(terms.front());
    }
    const auto [known, is_new] = dfs_of_any_.emplace(terms, 0);
    if (is_new) {
      for (const SegmentView& view : segments_) {
        const AllowedRows all;
        const ClauseReader reader(view, bm25_.weights, all);
        known->second += reader.unite(terms, nullptr).documents.size();
      }
    }
    return known->second;
  }

  std::uint64_t df(TermId term) const { return statistics_.df.at(term); }
  // 0 if no document contains it.
  double idf_of(std::uint64_t df) const {
    return df == 0 ? 0.0 : idf(bm25_.variant, statistics_.document_count, df);
  }

  const Bm25& bm25_;
  const ClauseStatistics& statistics_;
  std::span<const SegmentView> segments_;
  std::map<std::vector<TermId>, std::uint64_t> dfs_of_any_;
};

}  // namespace

WeighedQuery weigh_clauses(const ClauseQuery& query, const Bm25& bm25,
                           const ClauseStatistics& statistics,
                           std::span<const SegmentView> segments) {
  Weighing weighing(bm25, statistics, segments);
  WeighedQuery weighed{.terms = {},
                       .clauses = {},
                       .minimum_should_match = query.minimum_should_match,
                       .average_length = statistics.average_length};
  weighed.clauses.reserve(query.clauses.size());
  for (const auto& [clause, count] : query.clauses) {
    weighed.clauses.push_back(weighing.weigh(clause, count));
  }
  return weighed;
}

}  // namespace oneiros::lexical
