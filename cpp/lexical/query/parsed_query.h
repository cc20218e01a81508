// Parsing of queries, independent of an index. The grammar: docs/query_syntax.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lexical/segments/fields.h"

namespace oneiros::lexical {

enum class QuerySyntax : std::uint8_t {
  kPlain,  // every word is literal
  kQuery,  // operators, phrases, prefixes and fields
};

// The syntax by name: plain, query. Throws std::invalid_argument for another name.
QuerySyntax syntax_of(std::string_view name);

// How a clause affects the matching: optional (it adds to the score), required (+) or excluded (-).
enum class Occur : std::uint8_t { kShould, kMust, kMustNot };
// A word, "a quoted phrase", or a prefix*.
enum class ClauseKind : std::uint8_t { kWord, kPhrase, kPrefix };

// A clause as written.
struct ParsedClause {
  Occur occur = Occur::kShould;
  ClauseKind kind = ClauseKind::kWord;
  std::uint8_t fields = kAllFields;
  std::string_view
      text;  // a part of the query without operator, field, quotes and star; never empty
};

// A query as a list of clauses.
struct ParsedQuery {
  std::vector<ParsedClause> clauses;  // in text order
};

// Parses any bytes: what does not parse is a literal word. Linear time. The clauses are views of
// `utf8`, which must outlive them; there are at most as many as bytes.
ParsedQuery parse_query(std::string_view utf8, QuerySyntax syntax);

}  // namespace oneiros::lexical
