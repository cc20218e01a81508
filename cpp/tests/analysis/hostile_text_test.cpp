// Texts made to hurt: each has a defined answer, and tokens in proportion to its bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "analysis/analyzer.h"
#include "analysis/utf8.h"
#include "tests/rounds.h"

using oneiros::AnalyzedText;
using oneiros::Analyzer;
using oneiros::testing::rounds;

namespace {

Analyzer make(bool identifiers = true) {
  return Analyzer({.stop_words = {"the"}, .identifiers = identifiers, .stem = {}});
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    text += piece;
  }
  return text;
}

// Every token costs bytes of the text; a whole and its parts may cover a byte four times.
void check_bounded(Analyzer& analyzer, const std::string& text) {
  const AnalyzedText analyzed = analyzer.analyze(text);
  CHECK(analyzed.occurrences.size() <= 4 * text.size());
  CHECK(std::is_sorted(analyzed.occurrences.begin(), analyzed.occurrences.end(),
                       [](const auto& a, const auto& b) { return a.position < b.position; }));
}

// Is it a term that may stand in an index: valid UTF-8, not empty, within the limit?
bool is_sound(const std::string& term) {
  bool is_valid = !term.empty() && term.size() <= Analyzer::kMaxTokenBytes;
  for (std::size_t i = 0; is_valid && i < term.size();) {
    const oneiros::Decoded read = oneiros::decode_utf8(term, i);
    is_valid = read.code_point != oneiros::kReplacement;
    i += read.length;
  }
  return is_valid;
}

}  // namespace

TEST_CASE("hostile: a token over the limit is cut at a character and counted") {
  Analyzer analyzer = make();
  const AnalyzedText text = analyzer.analyze(std::string(10'000'000, 'x'));
  REQUIRE(text.occurrences.size() == 1);
  CHECK(text.cut_token_count == 1);
  CHECK(analyzer.term(text.occurrences[0].term) == std::string(256, 'x'));

  const AnalyzedText wide = analyzer.analyze("x" + repeated("я", 200));
  CHECK(analyzer.term(wide.occurrences[0].term) == "x" + repeated("я", 127));
  CHECK(wide.cut_token_count == 1);

  CHECK(analyzer.analyze(std::string(256, 'y')).cut_token_count == 0);
  CHECK(analyzer.analyze(std::string(257, 'y')).cut_token_count == 1);
}

TEST_CASE("hostile: an identifier cut to its first word is not added beside it") {
  Analyzer analyzer = make();
  const AnalyzedText text = analyzer.analyze(std::string(300, 'x') + ".py");
  CHECK(text.occurrences.size() == 2);
  CHECK(text.cut_token_count == 1);
}

TEST_CASE("hostile: long chains of one kind or another") {
  for (const std::string_view piece :
       {"a.",        "a_", "a/", "aB", "a1",  "A",   "a-1-", "a:1",  "a::", "a@b.",    "a'b",
        "http://a/", "_",  ".",  "/",  "a\\", "c++", "a#",   "x.1/", "l'",  "a_b-c.d/"}) {
    CAPTURE(piece);
    Analyzer analyzer = make();
    check_bounded(analyzer, repeated(piece, rounds(100'000U)));
    Analyzer plain = make(false);
    check_bounded(plain, repeated(piece, rounds(100'000U)));
  }
}

TEST_CASE("hostile: a million equal tokens, a million distinct") {
  Analyzer analyzer = make();
  constexpr std::size_t kTokens = rounds(1'000'000U);
  CHECK(analyzer.analyze(repeated("same ", kTokens)).occurrences.size() == kTokens);
  CHECK(analyzer.vocabulary_size() == 1);
  std::string distinct;
  for (std::size_t i = 0; i < kTokens; ++i) {
    distinct += "w" + std::to_string(i) + " ";
  }
  CHECK(analyzer.analyze(distinct).occurrences.size() == kTokens);
  CHECK(analyzer.vocabulary_size() == kTokens + 1);
}

TEST_CASE("hostile: storms of marks, expansions, separators") {
  Analyzer analyzer = make();
  const AnalyzedText accents = analyzer.analyze("e" + repeated("\u0301", 1'000'000));
  REQUIRE(accents.occurrences.size() == 1);
  CHECK(analyzer.term(accents.occurrences[0].term) == "e");
  CHECK(accents.cut_token_count == 0);

  const AnalyzedText vowels = analyzer.analyze("क" + repeated("\u093F", 1'000'000));
  CHECK(vowels.occurrences.size() == 1);
  CHECK(vowels.cut_token_count == 1);

  CHECK(analyzer.analyze(repeated("\uFDFA", 100'000)).occurrences.size() <= 400'000);
  CHECK(analyzer.analyze(repeated("\u200D", 1'000'000)).occurrences.empty());
  CHECK(analyzer.analyze(repeated("\u1100", 100'000)).occurrences.size() == 199'999);
  CHECK(analyzer.analyze(std::string(1'000'000, '\0')).occurrences.empty());
  CHECK(analyzer.analyze(std::string(1'000'000, '\xFF')).occurrences.empty());
}

TEST_CASE("hostile: any bytes are accepted, and all terms are UTF-8") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(0, 255);
  const std::string_view pieces[] = {"a",   "Z", "9",  "_",      ".",        "/",
                                     "'",   "é", "東", "\u0301", "🎉",        "한",
                                     "://", "ß", "ﷺ",  " ",      "\xE2\x82", "ที่"};  // NOLINT
  Analyzer analyzer = make();
  std::size_t wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const int length = byte(random);
    for (int i = 0; i < length; ++i) {
      const int drawn = byte(random);
      text += drawn < 40 ? std::string(1, static_cast<char>(byte(random)))
                         : std::string(pieces[static_cast<std::size_t>(drawn) % std::size(pieces)]);
    }
    const AnalyzedText analyzed = analyzer.analyze(text);
    wrong += static_cast<std::size_t>(std::count_if(
        analyzed.occurrences.begin(), analyzed.occurrences.end(),
        [&](const auto& occurrence) { return !is_sound(analyzer.term(occurrence.term)); }));
    // Every word is known now, so the query is the text without single characters.
    wrong += static_cast<std::size_t>(
        std::ranges::count(analyzed.occurrences, false, &oneiros::Occurrence::is_single) !=
        std::ssize(analyzer.analyze_query(text)));
  }
  CHECK(wrong == 0);
}
