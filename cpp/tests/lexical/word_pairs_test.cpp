#include "lexical/search/word_pairs.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lexical/index/lexical_index.h"

using namespace oneiros;
using lexical::WordPairs;

namespace {

using Words = std::vector<std::string>;

std::shared_ptr<Analyzer> simple() {
  return std::make_shared<Analyzer>(
      AnalyzerOptions{.stop_words = {}, .identifiers = false, .stem = {}});
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += word + " ";
  }
  return text;
}

bool are_near(const Words& words, const std::string& one, const std::string& other, int window) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t j = 0; j < words.size(); ++j) {
      const int apart = std::abs(static_cast<int>(i) - static_cast<int>(j));
      if (words[i] == one && words[j] == other && apart > 0 && apart <= window) {
        return true;
      }
    }
  }
  return false;
}

// Of texts in several segments, sealed and growing, against a scan of all positions.
void check_pairs(const lexical::SegmentLimits& limits) {
  std::mt19937 random(7);
  Words vocabulary{"ant", "bee", "cat", "dog", "elk", "fox"};
  for (int number = 0; number < 14; ++number) {
    vocabulary.push_back("w" + std::to_string(number));
  }
  LexicalIndex index(simple(), {}, limits);
  std::vector<Words> texts;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 400; ++row) {
    Words words;
    for (std::size_t i = random() % 12; i > 0; --i) {
      words.push_back(vocabulary[random() % vocabulary.size()]);
    }
    index.add(row, joined(words));
    texts.push_back(words);
    rows.push_back(row);
    if (row == 250) {
      index.seal();
    }
  }
  rows.push_back(9'999);  // no text
  for (const bool is_sealed : {false, true}) {
    if (is_sealed) {
      index.seal();
    }
    for (const Words& query :
         {Words{"ant", "bee"}, Words{"ant", "bee", "cat", "ant", "elk"}, vocabulary}) {
      const lexical::WeighedQuery weighed = index.weigh(joined(query));
      const WordPairs pairs = index.pairs(joined(query), weighed);
      std::vector<double> words(rows.size());
      index.score_rows(weighed, rows, words);
      for (const std::uint32_t window : {1U, 2U, 4U}) {
        std::vector<double> scores(rows.size(), -1.0);
        // Every other row has a score of its words already, which stays.
        std::vector<double> filled(rows.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < rows.size(); i += 2) {
          filled[i] = -7.0;
        }
        index.score_with_pairs(weighed, pairs, window, rows, filled, scores);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          CHECK(filled[i] == (i % 2 == 0 ? -7.0 : words[i]));
        }
        for (std::size_t i = 0; i < texts.size(); ++i) {
          double want = 0.0;
          std::size_t next = 0;
          std::vector<std::pair<std::string, std::string>> seen;
          for (std::size_t a = 0; a < query.size(); ++a) {
            for (std::size_t b = a + 1; b < std::min(query.size(), a + 3); ++b) {
              const auto pair = std::minmax(query[a], query[b]);
              const std::pair<std::string, std::string> key(pair.first, pair.second);
              if (query[a] == query[b] || std::ranges::find(seen, key) != seen.end()) {
                continue;
              }
              seen.push_back(key);
              want += are_near(texts[i], key.first, key.second, static_cast<int>(window))
                          ? pairs.pairs[next].weight
                          : 0.0;
              ++next;
            }
          }
          CHECK(scores[i] == want);
        }
        CHECK(scores.back() == 0.0);
      }
    }
  }
}

}  // namespace

TEST_CASE("weigh_pairs: each word with the next two, by the lesser idf") {
  LexicalIndex index(simple(), {});
  index.add(0, "ant bee");
  index.add(1, "ant cat");
  index.add(2, "ant");
  const auto weights = [&](std::string_view query) {
    const WordPairs pairs = index.pairs(query, index.weigh(query));
    std::vector<double> found;
    double sum = 0;
    for (const lexical::WordPair& pair : pairs.pairs) {
      found.push_back(pair.weight);
      sum += pair.weight;
    }
    CHECK(pairs.possible == sum);
    return found;
  };
  const double ant = index.weigh("ant").terms[0].weight;
  const double bee = index.weigh("bee").terms[0].weight;
  CHECK(ant < bee);
  CHECK(weights("ant bee") == std::vector<double>{ant});
  CHECK(weights("bee cat ant") == std::vector<double>{bee, ant, ant});
  CHECK(weights("ant bee ant") == std::vector<double>{ant + ant});
  CHECK(weights("bee zebu cat") == std::vector<double>{bee});  // no text has the one between
  CHECK(weights("bee zebu yak cat").empty());
  CHECK(weights("ant ant").empty());
  CHECK(weights("").empty());
}

TEST_CASE("score_with_pairs: as a scan of all positions, in every segment, also when sealed") {
  check_pairs({});
}

TEST_CASE("score_with_pairs: the same where the words in order have a code of their own") {
  check_pairs({.packed_from = 1});
}
