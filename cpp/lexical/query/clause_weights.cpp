// Weights by clause. Prefixes need a count of documents with any of their terms, hence a pass over
// the postings; equal prefixes are counted once.
#include "lexical/query/clause_weights.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lexical/query/clause_reader.h"

namespace oneiros::lexical {

namespace {

class Weighing {
 public:
  Weighing(const Bm25& bm25, const TermStatistics& statistics)
      : bm25_(bm25), statistics_(statistics) {}

  WeighedClause weigh(const Clause& clause, std::uint32_t count) {
    WeighedClause weighed{.occur = clause.occur,
                          .kind = clause.kind,
                          .fields = clause.fields,
                          .count = count,
                          .terms = {},
                          .positions = {},
                          .weight = 0.0,
                          .matches_nothing = clause.matches_nothing};
    if (clause.matches_nothing) {
      return weighed;
    }
    weighed.positions = clause.positions;
    if (clause.kind == ClauseKind::kWord) {
      weigh_word(clause, weighed);
    } else {
      for (const TermId term : clause.terms) {
        weighed.terms.push_back({.term = term, .weight = idf_of(df(term))});
      }
      if (clause.kind == ClauseKind::kPhrase) {
        weigh_phrase(weighed);
      } else {
        weigh_prefix(clause, weighed);
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

  void weigh_prefix(const Clause& clause, WeighedClause& weighed) const {
    std::erase_if(weighed.terms, [&](const WeightedTerm& term) { return df(term.term) == 0; });
    weighed.matches_nothing = weighed.terms.empty();
    const auto found = statistics_.prefix_df.find(clause.prefix);
    weighed.weight = weighed.occur == Occur::kMustNot || found == statistics_.prefix_df.end()
                         ? 0.0
                         : weighed.count * idf_of(found->second);
  }

  std::uint64_t df(TermId term) const { return statistics_.df.at(term); }
  // 0 if no document contains it.
  double idf_of(std::uint64_t df) const {
    return df == 0 ? 0.0 : idf(bm25_.variant, statistics_.counts.documents, df);
  }

  const Bm25& bm25_;
  const TermStatistics& statistics_;
};

}  // namespace

std::map<std::string, std::uint64_t, std::less<>> count_prefixes(
    const ClauseQuery& query, const Bm25& bm25, const TermStatistics& statistics,
    const AllowedRows& rows, std::span<const SegmentView> segments) {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  for (const auto& [clause, count] : query.clauses) {
    if (clause.kind != ClauseKind::kPrefix || counts.contains(clause.prefix)) {
      continue;
    }
    std::vector<TermId> terms = clause.terms;
    std::erase_if(terms, [&](TermId term) { return statistics.df.at(term) == 0; });
    std::uint64_t df = 0;
    if (terms.size() == 1) {
      df = statistics.df.at(terms.front());
    } else if (!terms.empty()) {
      for (const SegmentView& view : segments) {
        df += ClauseReader(view, bm25.weights, rows).unite(terms, nullptr).documents.size();
      }
    }
    counts.emplace(clause.prefix, df);
  }
  return counts;
}

WeighedQuery weigh_clauses(const ClauseQuery& query, const Bm25& bm25,
                           const TermStatistics& statistics) {
  Weighing weighing(bm25, statistics);
  WeighedQuery weighed{.terms = {},
                       .clauses = {},
                       .minimum_should_match = query.minimum_should_match,
                       .average_length = statistics.counts.average_length(),
                       .missing_count = 0,
                       .missing_weight = 0.0};
  weighed.clauses.reserve(query.clauses.size());
  for (const auto& [clause, count] : query.clauses) {
    weighed.clauses.push_back(weighing.weigh(clause, count));
    if (clause.occur != Occur::kMustNot && weighed.clauses.back().is_missing()) {
      weighed.missing_count += 1.0;
    }
  }
  if (statistics.counts.documents != 0) {
    weighed.missing_weight = idf(bm25.variant, statistics.counts.documents, 1);
  }
  return weighed;
}

}  // namespace oneiros::lexical
