// Analysis of parsed clauses: words and phrases by the analyzer, prefixes by an expansion in the
// vocabulary.
#include "lexical/query/clauses.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace oneiros::lexical {
namespace {

class ClauseAnalysis {
 public:
  ClauseAnalysis(const Analyzer& analyzer, std::size_t most_terms, const PrefixTerms* others)
      : analyzer_(analyzer), most_terms_(most_terms), others_(others) {}

  void add(const ParsedClause& parsed) {
    if (parsed.kind == ClauseKind::kPrefix) {
      add_prefix(parsed);
    } else {
      add_words(parsed, parsed.kind, analyzer_.analyze_words(parsed.text));
    }
  }

  bool is_over() const { return term_count() > most_terms_; }

  AnalyzedClauses result() && { return {std::move(clauses_), term_count()}; }

 private:
  std::size_t term_count() const { return known_.size() + unknown_.size(); }

  void add_words(const ParsedClause& parsed, ClauseKind kind, const AnalyzedWords& words) {
    if (words.occurrences.empty()) {
      return;
    }
    Clause clause{parsed.occur, kind, parsed.fields, {}, {}, {}, false, words.unknown};
    const bool is_exact = kind == ClauseKind::kPhrase || parsed.occur != Occur::kShould;
    for (const WordOccurrence& word : words.occurrences) {
      if (is_exact && word.is_part) {
        continue;
      }
      if (word.term == kUnknownTerm) {
        clause.matches_nothing = clause.matches_nothing || is_exact;
        continue;
      }
      clause.terms.push_back(word.term);
      if (kind == ClauseKind::kPhrase) {
        clause.positions.push_back(word.position - words.occurrences.front().position);
      }
    }
    known_.insert(clause.terms.begin(), clause.terms.end());
    unknown_.insert(words.unknown.begin(), words.unknown.end());
    clause.matches_nothing = clause.matches_nothing || clause.terms.empty();
    clauses_.push_back(std::move(clause));
  }

  void add_prefix(const ParsedClause& parsed) {
    AnalyzedPrefix analyzed = analyzer_.analyze_prefix(parsed.text);
    add_words(parsed, analyzed.is_phrase ? ClauseKind::kPhrase : ClauseKind::kWord, analyzed.words);
    if (analyzed.prefix.empty() ||
        !seen_.emplace(parsed.occur, parsed.fields, analyzed.prefix).second) {
      return;
    }
    auto found = terms_of_.find(analyzed.prefix);
    if (found == terms_of_.end()) {
      std::vector<TermId> terms = terms_with(analyzed.prefix);
      known_.insert(terms.begin(), terms.end());
      found = terms_of_.emplace(analyzed.prefix, std::move(terms)).first;
    }
    const std::vector<TermId>& terms = found->second;
    clauses_.push_back({parsed.occur,
                        ClauseKind::kPrefix,
                        parsed.fields,
                        terms,
                        {},
                        std::move(analyzed.prefix),
                        terms.empty(),
                        {}});
  }

  std::vector<TermId> terms_with(const std::string& prefix) const {
    std::vector<TermId> terms = analyzer_.terms_with_prefix(prefix, most_terms_);
    if (others_ == nullptr) {
      return terms;
    }
    if (const auto found = others_->find(prefix); found != others_->end()) {
      for (const std::string& spelling : found->second) {
        const TermId term = analyzer_.find_term(spelling);
        if (term != kUnknownTerm && std::ranges::find(terms, term) == terms.end()) {
          terms.push_back(term);
        }
      }
    }
    return terms;
  }

  const Analyzer& analyzer_;
  const std::size_t most_terms_;
  const PrefixTerms* const others_;
  std::vector<Clause> clauses_;
  std::unordered_set<TermId> known_;
  std::unordered_set<std::string> unknown_;
  // A one-letter prefix costs two bytes of the query and may expand to a thousand terms. So each
  // prefix is expanded once, and is one clause per operator and field.
  std::map<std::string, std::vector<TermId>> terms_of_;
  std::set<std::tuple<Occur, std::uint8_t, std::string>> seen_;
};

}  // namespace

AnalyzedClauses analyze_clauses(const ParsedQuery& query, const Analyzer& analyzer,
                                std::size_t most_terms, const PrefixTerms* others) {
  ClauseAnalysis analysis(analyzer, most_terms, others);
  for (const ParsedClause& clause : query.clauses) {
    analysis.add(clause);
    if (analysis.is_over()) {
      break;
    }
  }
  return std::move(analysis).result();
}

std::vector<CountedClause> count_clauses(std::vector<Clause> clauses) {
  using Key = std::tuple<Occur, ClauseKind, std::uint8_t, std::vector<TermId>,
                         std::vector<std::uint32_t>, std::string, std::vector<std::string>>;
  std::map<Key, std::size_t> places;
  std::vector<CountedClause> counted;
  for (Clause& clause : clauses) {
    Key key(clause.occur, clause.kind, clause.fields, clause.terms, clause.positions, clause.prefix,
            clause.unknown);
    const auto [place, is_new] = places.emplace(std::move(key), counted.size());
    if (is_new) {
      counted.push_back({.clause = std::move(clause), .count = 0});
    }
    ++counted[place->second].count;
  }
  return counted;
}

}  // namespace oneiros::lexical
