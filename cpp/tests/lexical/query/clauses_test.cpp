#include "lexical/query/clauses.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace oneiros;
using namespace oneiros::lexical;

namespace {

AnalyzedClauses analyzed(const Analyzer& analyzer, std::string_view query,
                         std::size_t most_terms = 1024) {
  return analyze_clauses(parse_query(query, QuerySyntax::kQuery), analyzer, most_terms);
}

// Terms with their positions if they have any; "nothing" for a clause that matches nothing.
std::string terms_of(const Analyzer& analyzer, std::string_view query) {
  std::string line;
  for (const Clause& clause : analyzed(analyzer, query).clauses) {
    line += "[";
    for (std::size_t i = 0; i < clause.terms.size(); ++i) {
      line += (i == 0 ? "" : " ") + analyzer.term(clause.terms[i]);
      line += clause.positions.empty() ? "" : "/" + std::to_string(clause.positions[i]);
    }
    line += clause.matches_nothing ? "nothing]" : "]";
  }
  return line;
}

}  // namespace

TEST_CASE("clauses: words, phrases and prefixes in terms") {
  Analyzer analyzer({.stop_words = {"the", "of"}, .identifiers = true, .stem = {}});
  analyzer.analyze("the end of the snake_case of 東京タワー");
  CHECK(terms_of(analyzer, "end unheard +unheard") == "[end][nothing][nothing]");
  CHECK(terms_of(analyzer, "snake_case +snake_case") == "[snake_case snake case][snake_case]");
  CHECK(terms_of(analyzer, "-snake_end snake_end") == "[nothing][snake end]");
  CHECK(terms_of(analyzer, "\"the end of the case\" \"of\" +the \"end x\"") ==
        "[end/0 case/3][end/0nothing]");
  CHECK(terms_of(analyzer, "\"x end case\" +snake-end") == "[end/1 case/2nothing][snake end]");
  CHECK(terms_of(analyzer, "sn* sn* +SN* th* x*") ==
        "[snake snake_case][snake snake_case][nothing][nothing]");
  CHECK(terms_of(analyzer, "the,end,sna* 東* 京タワ*") ==
        "[end][snake snake_case][東/0][京タ/0 タワ/1]");
}

TEST_CASE("clauses: distinct terms are counted, and too many end it") {
  Analyzer analyzer({.stop_words = {}, .identifiers = true, .stem = {}});
  analyzer.analyze("aa ab ac ad b");
  CHECK(analyzed(analyzer, "aa AA +aa a* unknown -unknown").term_count == 5);
  CHECK(analyzed(analyzer, "a*", 4).term_count == 4);
  CHECK(analyzed(analyzer, "a*", 3).term_count == 4);
  CHECK(analyzed(analyzer, "b x y z a*", 2).clauses.size() == 3);
}
