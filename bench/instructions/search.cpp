// Fixed searches over a fixed index, for callgrind: each search's instructions are dumped under its
// own name. Built by bench/instructions/__main__.py.
#include <valgrind/callgrind.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lexical/index/lexical_index.h"

namespace {

using oneiros::LexicalIndex;

constexpr std::size_t kTexts = 40'000;
constexpr std::size_t kVocabulary = 20'000;
constexpr std::size_t kQueries = 24;

// The same numbers on every machine; distributions of the standard library are not.
class Random {
 public:
  double next() {  // in [0, 1)
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }
  std::size_t below(std::size_t limit) {
    return static_cast<std::size_t>(next() * static_cast<double>(limit));
  }
  // Words as texts have them: the n-th most frequent about 1/n times as often as the first.
  std::string word() {
    const double rank = std::exp2(next() * std::log2(static_cast<double>(kVocabulary)));
    std::string word = std::to_string(static_cast<std::size_t>(rank));
    word.insert(word.begin(), 'w');
    return word;
  }
  std::string words(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text.append(i == 0 ? "" : " ").append(word());
    }
    return text;
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace

int main() {
  Random random;
  oneiros::AnalyzerOptions options;
  options.identifiers = false;
  LexicalIndex index(std::make_shared<oneiros::Analyzer>(options),
                     oneiros::lexical::make_bm25("lucene", 1.2, 0.75, 0.0));
  std::vector<std::string> texts;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < kTexts; ++row) {
    texts.push_back(random.words(4 + random.below(16)));
    rows.push_back(row);
  }
  std::vector<oneiros::IndexedText> views;
  for (const std::string& text : texts) {
    views.push_back({.text = text});
  }
  index.add_many(rows, views);
  index.seal();
  for (std::size_t i = 0; i < kQueries; ++i) {
    const std::string query = random.words(2 + i % 5);
    for (const std::size_t k : {std::size_t{10}, std::size_t{100}}) {
      index.search(query, k, {});  // the thread's room is there from now on
      CALLGRIND_START_INSTRUMENTATION;
      CALLGRIND_ZERO_STATS;
      const oneiros::lexical::Found found = index.search(query, k, {});
      const std::string name = "top " + std::to_string(k) + ": " + query + " (" +
                               std::to_string(found.hits.size()) + ")";
      CALLGRIND_DUMP_STATS_AT(name.c_str());
      CALLGRIND_STOP_INSTRUMENTATION;
    }
  }
}
