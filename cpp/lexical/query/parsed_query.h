// What a query asks for, read off its text alone. The grammar: docs/query_syntax.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lexical/segments/fields.h"

namespace oneiros::lexical {

enum class QuerySyntax : std::uint8_t {
  kPlain,  // every word is literal
  kQuery,  // signs, phrases, prefixes and fields are understood
};

// By name: plain, query. Throws std::invalid_argument on another name.
QuerySyntax syntax_of(std::string_view name);

enum class Occur : std::uint8_t { kShould, kMust, kMustNot };
enum class ClauseKind : std::uint8_t { kWord, kPhrase, kPrefix };

struct ParsedClause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;
  std::string_view text;  // of the query, without sign, field, quotes and star; never empty
};

struct ParsedQuery {
  std::vector<ParsedClause> clauses;  // in text order
};

// Any bytes are a query: what does not parse is a literal word. Linear time. The clauses are slices
// of `utf8`, which must outlive them; no more than one for every byte of it.
ParsedQuery parse_query(std::string_view utf8, QuerySyntax syntax);

}  // namespace oneiros::lexical
