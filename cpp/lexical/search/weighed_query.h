// A parsed query with the term weights of one moment's statistics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"

namespace oneiros::lexical {

// A term with its weight.
struct WeightedTerm {
  TermId term;
  double weight;  // the term's count in the query times its idf and its share
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

  // True if no document can match it. A phrase keeps the terms that no document contains, with
  // weight 0.
  bool is_missing() const {
    return matches_nothing || (kind == ClauseKind::kPhrase &&
                               std::ranges::find(terms, 0.0, &WeightedTerm::weight) != terms.end());
  }
};

// A word of a query that no document has, and the one that is searched in its place (H20).
struct Typo {
  std::string word;      // as in the query, folded
  std::string read_as;   // a word with the term; texts may have other forms of it
  std::string spelling;  // of the word's own term
  TermId missing;        // its own term, or kUnknownTerm
  TermId term;
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
  // The distinct words (with clauses: the clauses) that no document can match, each counted by its
  // share, and the weight of a word that one document contains: what each of them would have at
  // most. They change no score.
  double missing_count = 0;
  double missing_weight = 0.0;
  // Among `terms` is the term of each, with its share of the weight.
  std::vector<Typo> typos = {};

  bool is_empty() const { return terms.empty() && clauses.empty(); }
};

// The score that no document exceeds: every word of the query found in one text, the missing ones
// included, each as often as saturation allows. Words that most documents contain weigh at least 0
// here (Robertson's idf is negative for them).
[[nodiscard]] double possible_score(const WeighedQuery& query, const Bm25& bm25);

// The share of the words' weights that words have which no document contains, 0 to 1; 1 if no word
// has any weight, as where all are stop words.
[[nodiscard]] double missing_share(const WeighedQuery& query);

}  // namespace oneiros::lexical
