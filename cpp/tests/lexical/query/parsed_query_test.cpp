#include "lexical/query/parsed_query.h"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "tests/rounds.h"

using namespace oneiros::lexical;

namespace {

// "+a -"b c" d*1" as the clauses it stands for: sign, kind's brackets, text, fields if not all.
std::string spelt(std::string_view query, QuerySyntax syntax = QuerySyntax::kQuery) {
  static constexpr std::array<std::string_view, 3> kSigns = {"", "+", "-"};
  std::string line;
  for (const ParsedClause& clause : parse_query(query, syntax).clauses) {
    line += line.empty() ? "" : " ";
    line += kSigns[static_cast<std::size_t>(clause.occur)];
    if (clause.fields != kAllFields) {
      line += std::to_string(clause.fields) + ":";
    }
    const std::string text(clause.text);
    line += clause.kind == ClauseKind::kWord     ? text
            : clause.kind == ClauseKind::kPhrase ? "<" + text + ">"
                                                 : text + "...";
  }
  return line;
}

std::string repeated(std::string_view piece, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    text += piece;
  }
  return text;
}

}  // namespace

TEST_CASE("query syntax: signs, phrases, prefixes, fields") {
  CHECK(spelt("a b") == "a b");
  CHECK(spelt(R"(+a -b "c d" e*)") == "+a -b <c d> e...");
  CHECK(spelt(R"(+title:"c d" -tags:e* text:f)") == "+1:<c d> -4:e... 2:f");
  CHECK(spelt(R"("a""b"c)") == "<a> <b> c");
  CHECK(spelt("") == "");
  CHECK(spelt(" \t\n\xE3\x80\x80 ") == "");
}

TEST_CASE("query syntax: what does not parse is literal") {
  CHECK(spelt("--a +-a + - +* *") == "--a +-a + - +* *");
  CHECK(spelt("a*b a** *a well-known C++") == "a*b a** *a well-known C++");
  CHECK(spelt(R"("never closed)") == R"("never closed)");
  CHECK(spelt(R"(5" b"c d")") == R"(5" b"c d")");
  CHECK(spelt(R"("" +"" "a "b" c")") == R"(<a > b" c")");
  CHECK(spelt("title: Title:a author:a title:+a text:tags:a") ==
        "title: Title:a author:a 1:+a 2:tags:a");
  CHECK(spelt(R"(-"a)") == R"(-"a)");
}

TEST_CASE("query syntax: plain text has no signs") {
  CHECK(spelt(R"(+a -b "c d" title:e f*)", QuerySyntax::kPlain) == R"(+a -b "c d" title:e f*)");
}

TEST_CASE("query syntax: any bytes parse into slices of them, in order") {
  static constexpr std::string_view kBytes = "+-\"*: atilex\xC3\xA9\xFF\xE3\x80\x00";
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& byte : text) {
      byte = kBytes[random() % kBytes.size()];
    }
    const char* last = text.data();
    for (const ParsedClause& clause : parse_query(text, QuerySyntax::kQuery).clauses) {
      REQUIRE(!clause.text.empty());
      REQUIRE(clause.text.data() >= last);
      last = clause.text.data() + clause.text.size();
      REQUIRE(last <= text.data() + text.size());
    }
  }
}

// At a step for each pair of its bytes one of these would take days.
TEST_CASE("query syntax: millions of open quotes, signs and prefixes are parsed in passing") {
  for (const std::string_view piece :
       {"\"", "+", "-", "*", "\"a", "+-", "title:", "title:\"", "a*", "-a ", "\xFF", "\xE3\x80"}) {
    CAPTURE(piece);
    const std::string text = repeated(piece, oneiros::testing::rounds(std::size_t{1} << 21U));
    const std::size_t count = parse_query(text, QuerySyntax::kQuery).clauses.size();
    CHECK(count <= text.size() / piece.size() + 1);
  }
}
