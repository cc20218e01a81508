// A parsed query in the terms of an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/query/parsed_query.h"

namespace oneiros::lexical {

struct Clause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;  // kTitleField and so on
  // A word: one or more in text order, repeats kept. For kShould an identifier and its parts, as a
  // plain query has them, without what no text holds; else the outermost alone, all to be there.
  // A phrase: the outermost in order. A prefix: every term with a surface that begins so, in byte
  // order of the terms.
  std::vector<TermId> terms;
  std::vector<std::uint32_t> positions;  // of a phrase's terms, from 0; stop words leave gaps
  bool matches_nothing = false;          // it asks for what no text holds; then terms is empty
};

// A clause and how often a query has it.
struct CountedClause {
  Clause clause;
  std::uint32_t count;
};

// Documents are found by the signs of the clauses. Of those without one, at least
// `minimum_should_match` have to match; one, if there is none that must be there.
struct ClauseQuery {
  std::vector<CountedClause> clauses;  // no clause twice
  std::size_t minimum_should_match = 0;
};

struct AnalyzedClauses {
  // In text order. What says nothing (stop words and signs alone) is left out, and so is a prefix
  // that was asked for before.
  std::vector<Clause> clauses;
  std::size_t term_count = 0;  // distinct ones, those of prefixes and unknown ones too
};

// Each clause's text by `analyzer`. Ends at the clause with which term_count passes `most_terms`:
// the clauses are then not all, and none of them may be used.
// A prefix is folded, not stemmed, and finds the term of every surface that begins with it: "runn"
// finds "run" where a text has "running". Words before it, joined by signs, are a clause of their
// own with the same sign and fields. In a script without spaces a prefix of two characters or more
// is a phrase.
AnalyzedClauses analyze_clauses(const ParsedQuery& query, const Analyzer& analyzer,
                                std::size_t most_terms);

// In order of first appearance.
std::vector<CountedClause> count_clauses(std::vector<Clause> clauses);

}  // namespace oneiros::lexical
