#include "analysis/analyzer.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using oneiros::AnalyzedText;
using oneiros::Analyzer;
using oneiros::Folding;
using oneiros::Occurrence;
using oneiros::Stem;
using oneiros::TermId;

namespace {

// Takes an s off; keeps what it was asked.
struct PluralStemmer {
  std::vector<std::vector<std::string>> calls;

  Stem function() {
    return [this](const std::vector<std::string>& words) {
      calls.push_back(words);
      std::vector<std::string> stems = words;
      for (std::string& stem : stems) {
        if (stem.ends_with('s')) {
          stem.pop_back();
        }
      }
      return stems;
    };
  }
};

std::string spelt(const Analyzer& analyzer, const AnalyzedText& text) {
  std::string line;
  for (const Occurrence& occurrence : text.occurrences) {
    line += analyzer.term(occurrence.term) + "/" + std::to_string(occurrence.position) + " ";
  }
  return line;
}

}  // namespace

TEST_CASE("analyzer: stop words leave gaps, repeats share a term") {
  Analyzer analyzer({.stop_words = {"and", "the"}, .identifiers = true, .stem = {}});
  const AnalyzedText text = analyzer.analyze("The cat and the other CAT");
  CHECK(spelt(analyzer, text) == "cat/1 other/4 cat/5 ");
  CHECK(text.occurrences[0].term == text.occurrences[2].term);
  CHECK(analyzer.vocabulary_size() == 2);
  Analyzer plain({.stop_words = {}, .identifiers = true, .stem = {}});
  CHECK(spelt(plain, plain.analyze("the cat")) == "the/0 cat/1 ");
}

TEST_CASE("analyzer: each surface is stemmed once, identifiers and pairs never") {
  PluralStemmer stemmer;
  Analyzer analyzer(
      {.stop_words = {"and", "the"}, .identifiers = true, .stem = stemmer.function()});
  CHECK(spelt(analyzer, analyzer.analyze("cats Cats foo_cats 東京s cat")) ==
        "cat/0 cat/1 foo_cats/2 foo/2 cat/3 東京/4 東/4 京/4 s/5 cat/6 ");
  CHECK(stemmer.calls == std::vector<std::vector<std::string>>{{"cats", "foo", "s", "cat"}});
  analyzer.analyze("cats foo dogs the");
  CHECK(stemmer.calls.size() == 2);
  CHECK(stemmer.calls[1] == std::vector<std::string>{"dogs"});
  CHECK(analyzer.vocabulary_size() == 8);  // cat foo_cats foo 東京 東 京 s dog
}

TEST_CASE("analyzer: a stem may be spelt like a stop word, and is then no stop word") {
  Analyzer analyzer(
      {.stop_words = {"and", "the"}, .identifiers = true, .stem = [](const auto& words) {
         return std::vector<std::string>(words.size(), "the");
       }});
  CHECK(spelt(analyzer, analyzer.analyze("the thes")) == "the/1 ");
  CHECK(analyzer.analyze_query("the other").size() == 1);
}

TEST_CASE("analyzer: a query finds terms by stem and leaves the vocabulary alone") {
  PluralStemmer stemmer;
  Analyzer analyzer(
      {.stop_words = {"and", "the"}, .identifiers = true, .stem = stemmer.function()});
  const std::vector<TermId> known{analyzer.analyze("cat").occurrences[0].term};
  CHECK(analyzer.analyze_query("the cats") == known);
  CHECK(analyzer.analyze_query("CAT unheard of").size() == 1);
  CHECK(analyzer.analyze_query("cat cats cat").size() == 3);
  CHECK(analyzer.analyze_query("").empty());
  CHECK(analyzer.vocabulary_size() == 1);
}

TEST_CASE("analyzer: what Stem throws or gets wrong reaches the caller, and nothing is learnt") {
  Analyzer failing({.stop_words = {"and", "the"}, .identifiers = true, .stem = [](const auto&) {
                      throw std::runtime_error("no stems today");
                      return std::vector<std::string>{};
                    }});
  CHECK_THROWS_WITH_AS(failing.analyze("cat"), "no stems today", std::runtime_error);
  Analyzer short_answer({.stop_words = {"and", "the"},
                         .identifiers = true,
                         .stem = [](const auto&) { return std::vector<std::string>{"one"}; }});
  CHECK_THROWS_WITH_AS(short_answer.analyze("two words"),
                       "stem: must return one stem for each word, got 1 for 2",
                       std::invalid_argument);
  CHECK_THROWS_AS(short_answer.analyze_query("two words"), std::invalid_argument);
  CHECK(short_answer.vocabulary_size() == 0);
}

TEST_CASE("analyzer: an empty stem leaves the word itself") {
  Analyzer analyzer(
      {.stop_words = {"and", "the"}, .identifiers = true, .stem = [](const auto& words) {
         return std::vector<std::string>(words.size());
       }});
  CHECK(spelt(analyzer, analyzer.analyze("cat")) == "cat/0 ");
}

TEST_CASE("analyzer: Stem may itself analyze") {
  Analyzer* self = nullptr;
  Analyzer inner({.stop_words = {}, .identifiers = true, .stem = {}});
  Analyzer analyzer({.stop_words = {}, .identifiers = true, .stem = [&](const auto& words) {
                       inner.analyze("something else entirely, longer than the first text");
                       CHECK(self->vocabulary_size() == 0);  // no lock is held
                       return words;
                     }});
  self = &analyzer;
  CHECK(spelt(analyzer, analyzer.analyze("one two")) == "one/0 two/1 ");
}

TEST_CASE("analyzer: stop words fold as the text does, and what is not one word is none") {
  Analyzer analyzer({.stop_words = {"À", "L'", "par devant", "", "e.g"},
                     .identifiers = true,
                     .folding = Folding::kLower,
                     .stem = {}});
  CHECK(spelt(analyzer, analyzer.analyze("a\u0300 a L par e.g. devant")) == "a/1 par/3 devant/5 ");
  Analyzer folded({.stop_words = {"à"}, .identifiers = true, .stem = {}});
  CHECK(spelt(folded, folded.analyze("à a b")) == "b/2 ");
}

TEST_CASE("analyzer: surfaces are stemmed with their accents, terms have none") {
  std::vector<std::string> asked;
  Analyzer analyzer({.stop_words = {},
                     .identifiers = true,
                     .folding = Folding::kLower,
                     .stem = [&asked](const auto& words) {
                       asked = words;
                       return words;
                     }});
  CHECK(spelt(analyzer, analyzer.analyze("HÄUSER hauser u\u0308ber_x Straße")) ==
        "hauser/0 hauser/1 uber_x/2 uber/2 x/3 strasse/4 ");
  CHECK(asked == std::vector<std::string>{"häuser", "hauser", "über", "x", "strasse"});
  CHECK(analyzer.analyze_query("Häuser hauser haüser").size() == 3);
}

TEST_CASE(
    "analyzer: function words are marked by their terms, and unknown words have their place") {
  PluralStemmer stemmer;
  Analyzer analyzer({.stop_words = {"the"},
                     .identifiers = true,
                     .stem = stemmer.function(),
                     .function_words = {"whats", "the", "two words", "how"}});
  CHECK(stemmer.calls == std::vector<std::vector<std::string>>{{"whats", "how"}});
  CHECK(analyzer.vocabulary_size() == 0);
  analyzer.analyze("what the cat");
  const oneiros::AnalyzedWords words = analyzer.analyze_words("dogs How what the cat fox dog how");
  CHECK(words.unknown == std::vector<std::string>{"dog", "how", "fox"});
  std::string line;
  for (const oneiros::WordOccurrence& word : words.occurrences) {
    line +=
        word.term == oneiros::kUnknownTerm ? words.unknown[word.unknown] : analyzer.term(word.term);
    line += (word.is_function_word ? "!/" : "/") + std::to_string(word.position) + " ";
  }
  CHECK(line == "dog/0 how!/1 what!/2 cat/4 fox/5 dog/6 how!/7 ");
}
