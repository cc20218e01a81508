#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "analysis/analyzer.h"

using oneiros::AnalyzedText;
using oneiros::Analyzer;

TEST_CASE("concurrency: threads that learn the same words agree on their terms") {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kTexts = 400;
  Analyzer analyzer(
      {.stop_words = {"and", "the"}, .identifiers = true, .stem = [](const auto& words) {
         std::vector<std::string> stems = words;
         for (std::string& stem : stems) {
           stem += "_stem";
         }
         return stems;
       }});
  std::vector<std::vector<std::vector<oneiros::TermId>>> seen(kThreads);
  std::atomic<bool> is_done{false};
  std::size_t wrong = 0;
  std::thread reader([&] {
    while (!is_done) {
      for (const oneiros::TermId term : analyzer.analyze_query("word7 shared snake_case word399")) {
        wrong += static_cast<std::size_t>(analyzer.term(term).empty());
      }
      wrong += static_cast<std::size_t>(analyzer.resident_bytes() == 0);
    }
  });
  std::vector<std::thread> writers;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    writers.emplace_back([&, thread] {
      for (std::size_t i = 0; i < kTexts; ++i) {
        std::vector<oneiros::TermId> terms;
        const AnalyzedText text =
            analyzer.analyze("shared word" + std::to_string(i) + " snake_case");
        for (const auto& occurrence : text.occurrences) {
          terms.push_back(occurrence.term);
        }
        seen[thread].push_back(terms);
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  is_done = true;
  reader.join();
  CHECK(wrong == 0);
  for (std::size_t thread = 1; thread < kThreads; ++thread) {
    CHECK(seen[thread] == seen[0]);
  }
  CHECK(analyzer.vocabulary_size() == kTexts + 4);  // shared, snake_case, snake, case
}
