#include "analysis/slips.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/analyzer.h"

using oneiros::Analyzer;
using oneiros::AnalyzerOptions;
using oneiros::one_slip_away;
using oneiros::SlippedWord;
using oneiros::TermId;

namespace {

bool has(const std::vector<std::string>& words, const char* word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

TEST_CASE("one_slip_away: each edit once, and the first letter stays") {
  for (const char* const word : {"boat", "kitten", "aaaa", "abab", "mississippi"}) {
    const std::vector<std::string> words = one_slip_away(word);
    const std::set<std::string> distinct(words.begin(), words.end());
    CHECK(distinct.size() == words.size());
    CHECK_FALSE(distinct.contains(word));
    CHECK(std::ranges::all_of(words, [&](const std::string& one) { return one[0] == word[0]; }));
  }
  // 2 swapped, 3 left out, replaced by 8, 10 and 6, 4 x 26 put in, of which 3 are one with others.
  CHECK(one_slip_away("boat").size() == 2 + 3 + (8 + 10 + 6) + 101);
  const std::vector<std::string> near = one_slip_away("boat");
  CHECK(near[0] == "baot");
  CHECK(near[1] == "bota");
  for (const char* const word : {"bat", "bot", "boa", "boot", "coat", "boats", "bboat", "booat"}) {
    CHECK(has(near, word) == (word[0] == 'b'));
  }
  CHECK(has(one_slip_away("march"), "match"));  // neighbours on a keyboard
  CHECK(has(one_slip_away("seperate"), "separate"));
  CHECK(has(one_slip_away("sinse"), "since"));
  CHECK_FALSE(has(one_slip_away("grandpa"), "grandma"));
  CHECK(has(one_slip_away("aaaa"), "aaaaa"));
  CHECK(has(one_slip_away("aaaa"), "aaa"));
}

TEST_CASE("one_slip_away: letters alone, neither too few nor too many") {
  for (const std::string& word :
       {std::string(), std::string("tea"), std::string("v2boat"), std::string("get_it"),
        std::string("can't"), std::string(33, 'a'), std::string("\xFF\xFE\xFD\xFC")}) {
    CHECK(one_slip_away(word).empty());
  }
  CHECK_FALSE(one_slip_away(std::string(32, 'a')).empty());
}

TEST_CASE("one_slip_away: letters of the word's script") {
  CHECK(has(one_slip_away("привет"), "превет"));
  CHECK(has(one_slip_away("καλημρα"), "καλημερα"));
  const std::vector<std::string> other = one_slip_away("გამარ");  // swapped and left out
  CHECK(other.size() == 3 + 4);
  CHECK(has(other, "გმაარ"));
  CHECK(has(other, "გამრ"));
}

TEST_CASE("slipped_words: terms by their stems, unknown words and those named as missing") {
  const auto stem = [](const std::vector<std::string>& words) {
    std::vector<std::string> stems;
    for (const std::string& word : words) {
      stems.push_back(word.ends_with("ing") ? word.substr(0, word.size() - 3) : word);
    }
    return stems;
  };
  Analyzer analyzer(AnalyzerOptions{.stop_words = {"then"},
                                    .identifiers = true,
                                    .stem = stem,
                                    .function_words = {"what"},
                                    .known_words = {"boast", "two words"}});
  (void)analyzer.analyze("sailing boats what then");
  const auto read = [&](const char* query, const std::vector<TermId>& missing = {}) {
    std::string found;
    for (const SlippedWord& word : analyzer.slipped_words(query, missing)) {
      found.append(word.word).append("(").append(word.spelling).append(")");
      for (const auto& near : word.near) {
        found.append(" ").append(near.word).append("=").append(analyzer.term(near.term));
      }
      found.append(";");
    }
    return found;
  };
  CHECK(read("sailign") == "sailign(sailign) sailing=sail;");
  CHECK(read("saling saling") == "saling(sal) sailing=sail;");
  CHECK(read("wha thne getGoat sailing boats unheard").empty());
  CHECK(read("boast boasting").empty());
  const TermId boats = analyzer.find_term("boats");
  (void)analyzer.analyze("boat");
  CHECK(read("boats", {boats}) == "boats(boats) boat=boat;");
  CHECK(read("boats").empty());
  // At most eight words are looked at.
  CHECK(read("aaaa bbbb cccc dddd eeee ffff gggg hhhh sailign").empty());
  CHECK(read("aaaa bbbb cccc dddd eeee ffff gggg sailign") == "sailign(sailign) sailing=sail;");
}
