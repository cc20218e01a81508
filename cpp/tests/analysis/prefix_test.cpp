#include "analysis/prefix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analysis/analyzer.h"

using oneiros::Analyzer;
using oneiros::TermId;

namespace {

// What stands before the prefix and, behind a bar, the prefix.
std::string split(std::string_view utf8, bool identifiers = true) {
  oneiros::FoldedText text;
  text.assign(utf8);
  const oneiros::PrefixPlace place = prefix_of(text, identifiers);
  std::string marked(text.slice(0, place.begin));
  marked += place.is_phrase ? "||" : "|";
  marked += text.slice(place.begin, text.size());
  return marked;
}

}  // namespace

TEST_CASE("prefix: the last piece that a token may begin with") {
  CHECK(split("Caf\u00E9") == "|cafe");
  CHECK(split("a,b") == "a,|b");
  CHECK(split("(.github") == "(.|github");
  CHECK(split("high-sp") == "high-|sp");
  CHECK(split("src/in") == "src/|in");
  CHECK(split("src/a/in") == "|src/a/in");
  CHECK(split("read_m") == "|read_m");
  CHECK(split("os.pa") == "|os.pa");
  CHECK(split("os.pa", false) == "os.|pa");
  CHECK(split("don'") == "|don'");
  CHECK(split("a,") == "a,|");
  CHECK(split("...") == "...|");
  CHECK(split("") == "|");
}

TEST_CASE("prefix: scripts without spaces, and signs") {
  CHECK(split("東") == "||東");
  CHECK(split("東京") == "||東京");
  CHECK(split("x東") == "x||東");
  CHECK(split("東京x") == "東京|x");
  CHECK(split("ก้") == "||ก้");
  CHECK(split("a🎉🎉") == "a🎉|🎉");
}

TEST_CASE("prefix: terms of the surfaces, few of many") {
  Analyzer analyzer({.stop_words = {}, .identifiers = true, .stem = [](const auto& words) {
                       std::vector<std::string> stems = words;
                       for (std::string& stem : stems) {
                         stem.resize(std::min<std::size_t>(stem.size(), 3));
                       }
                       return stems;
                     }});
  CHECK(analyzer.terms_with_prefix("a", 10).empty());
  analyzer.analyze("abcde abcdf abd b");
  const TermId abc = analyzer.analyze_query("abcde")[0];
  const TermId abd = analyzer.analyze_query("abd")[0];
  CHECK(analyzer.terms_with_prefix("abcd", 10) == std::vector<TermId>{abc});
  CHECK(analyzer.terms_with_prefix("ab", 10) == std::vector<TermId>{abc, abd});
  CHECK(analyzer.terms_with_prefix("ab", 1).size() == 2);
  CHECK(analyzer.terms_with_prefix("", 1).size() == 2);
}

TEST_CASE("prefix: terms learnt without a surface are found by queries alone") {
  Analyzer analyzer({.stop_words = {}, .identifiers = true, .stem = [](const auto& words) {
                       std::vector<std::string> stems = words;
                       for (std::string& stem : stems) {
                         stem.resize(std::min<std::size_t>(stem.size(), 3));
                       }
                       return stems;
                     }});
  const std::vector<std::string> terms{"abc", "xyz", "abc"};
  analyzer.learn_terms(terms);
  CHECK(analyzer.vocabulary_size() == 2);
  const TermId abc = analyzer.find_term("abc");
  CHECK(analyzer.term(abc) == "abc");
  CHECK(analyzer.analyze_query("abcde") == std::vector<TermId>{abc});
  CHECK(analyzer.terms_with_prefix("ab", 10).empty());
  const auto text = analyzer.analyze("abcde abc");
  CHECK(text.occurrences[0].term == abc);
  CHECK(text.occurrences[1].term == abc);
  CHECK(analyzer.terms_with_prefix("ab", 10) == std::vector<TermId>{abc});
  analyzer.learn_terms(terms);
  CHECK(analyzer.vocabulary_size() == 2);
}

TEST_CASE("prefix: look-ups run beside learning") {
  Analyzer analyzer({.stop_words = {}, .identifiers = true, .stem = {}});
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&analyzer, writer] {
      for (int i = 0; i < 2000; ++i) {
        analyzer.analyze("word" + std::to_string(i * 2 + writer));
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&analyzer] {
      std::size_t last = 0;
      for (int i = 0; i < 60; ++i) {
        const std::size_t count = analyzer.terms_with_prefix("word", 10'000).size();
        CHECK(count >= last);
        last = count;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(analyzer.terms_with_prefix("word", 10'000).size() == 4000);
  CHECK(analyzer.terms_with_prefix("word399", 10'000).size() == 11);
}
