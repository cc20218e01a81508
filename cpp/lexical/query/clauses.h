// Queries with operators, in terms of an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/query/parsed_query.h"

namespace oneiros::lexical {

// A clause after analysis.
struct Clause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;  // bits: kTitleField and so on
  // A word: its terms in text order with repetitions. An optional word has an identifier and its
  // parts, without unknown terms; a required or excluded one only the outermost terms, all of which
  // must match. A phrase: the outermost terms in order. A prefix: all terms with a surface form
  // that starts with it, in byte order.
  std::vector<TermId> terms;
  std::vector<std::uint32_t> positions;  // of a phrase's terms, from 0; stop words leave gaps
  std::string prefix = {};               // of a prefix: its text, folded
  // It needs a term that no text contains. `terms` has the others, which are counted all the same:
  // in another part of a collection, a text may contain them all.
  bool matches_nothing = false;
  std::vector<std::string> unknown = {};  // the terms of its words that no text contains
};

// A clause with its number of occurrences in the query.
struct CountedClause {
  Clause clause;
  std::uint32_t count;
};

// Documents are selected by the clauses' operators. Of the optional clauses at least
// `minimum_should_match` must match; one if none is required.
struct ClauseQuery {
  std::vector<CountedClause> clauses;  // distinct
  std::size_t minimum_should_match = 0;
};

// The result of analyze_clauses().
struct AnalyzedClauses {
  // In text order, without clauses that have no content (stop words, operators alone) and repeated
  // prefixes.
  std::vector<Clause> clauses;
  std::size_t term_count = 0;  // distinct terms, including those of prefixes and unknown ones
};

// Terms by prefix that other indexes found: a prefix also finds those of them that the analyzer
// knows.
using PrefixTerms = std::map<std::string, std::vector<std::string>, std::less<>>;

// Analyses each clause. Stops at the clause with which term_count exceeds `most_terms`; the result
// is then incomplete and must not be used. A prefix is folded but not stemmed, and finds the term
// of every surface form that starts with it: "runn" finds "run" if a text contains "running". Words
// joined in front of it form a clause of their own. In scripts without spaces, a prefix of two or
// more characters is a phrase.
AnalyzedClauses analyze_clauses(const ParsedQuery& query, const Analyzer& analyzer,
                                std::size_t most_terms, const PrefixTerms* others = nullptr);

// Distinct clauses in order of first appearance. Those that differ in unknown terms alone are two,
// so that each part of a collection counts the clauses as the whole does.
std::vector<CountedClause> count_clauses(std::vector<Clause> clauses);

}  // namespace oneiros::lexical
