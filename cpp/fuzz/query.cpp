// Any bytes are a query, in either syntax, under any filter.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "lexical/index/lexical_index.h"

using namespace oneiros;
using fuzz::require;

namespace {

constexpr std::uint32_t kRows = 60;

std::unique_ptr<LexicalIndex> small_index() {
  auto index = std::make_unique<LexicalIndex>(
      std::make_shared<Analyzer>(AnalyzerOptions{.stop_words = {"the"}, .stem = {}}),
      lexical::Bm25{}, lexical::SegmentLimits{.documents = 20, .postings = 200, .fan_in = 3});
  constexpr const char* kWords[] = {"ant",         "bee",
                                    "antler",      "src/net/pool.py",
                                    "getUserName", "\xE6\x9D\xB1\xE4\xBA\xAC",
                                    "the",         "naïve",
                                    "ERR_CONN-42", "often"};
  for (std::uint32_t row = 0; row < kRows; ++row) {
    std::string text;
    for (std::uint32_t i = 0; i < 3 + row % 9; ++i) {
      text += std::string(kWords[(row * 7 + i * i * (1 + row % 5)) % std::size(kWords)]) + " ";
    }
    index->add(row, {.text = text,
                     .title = row % 3 == 0 ? "often bee" : "",
                     .tags = row % 4 == 0 ? "one two\nant" : ""});
  }
  index->remove(11);
  return index;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<LexicalIndex> index = small_index();
  constexpr std::size_t kHead = 4;
  if (size < kHead) {
    return 0;
  }
  const std::size_t k = data[0] % (kRows + 2);
  const QueryReading reading{
      .syntax = (data[1] & 1U) != 0 ? lexical::QuerySyntax::kQuery : lexical::QuerySyntax::kPlain,
      .minimum_should_match = static_cast<std::size_t>(data[1] >> 6U)};
  const std::vector<std::uint8_t> bits(data[2] % 9, data[3]);
  const lexical::AllowedRows allowed =
      (data[1] & 2U) != 0 ? lexical::AllowedRows(bits) : lexical::AllowedRows();
  const QueryWeighing by{.rows = (data[1] & 8U) != 0 ? allowed : lexical::AllowedRows(),
                         .given = nullptr,
                         .shares = {.typos = (data[1] & 4U) != 0 ? 0.75 : 0.0}};
  const std::string_view query = fuzz::text_of(data + kHead, size - kHead);
  try {
    const lexical::Found found = index->search(query, k, allowed, reading, by);
    require(found.hits.size() <= k, "at most k hits");
    std::vector<std::uint32_t> rows;
    for (const lexical::Hit& hit : found.hits) {
      require(hit.row < kRows && hit.row != 11 && allowed.contains(hit.row), "hits are allowed");
      require(std::isfinite(hit.score), "scores are finite");
      rows.push_back(hit.row);
    }
    const auto is_better = [](const lexical::Hit& one, const lexical::Hit& other) {
      return one.score > other.score || (one.score == other.score && one.row < other.row);
    };
    require(std::ranges::is_sorted(found.hits, is_better), "hits stand in the order of rank");
    const lexical::WeighedQuery weighed = index->weigh(query, reading, by);
    std::vector<double> scores(rows.size());
    index->score_rows(weighed, rows, scores);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      require(scores[i] == found.hits[i].score, "a score has the bits of the search");
      require(scores[i] <= index->possible_score(weighed), "no score is above the possible one");
    }
    const auto permitted = index->permitted(query, reading, allowed);
    for (const std::uint32_t row : rows) {
      require(!permitted || lexical::AllowedRows(*permitted).contains(row), "a hit is permitted");
    }
  } catch (const QueryTooLarge&) {
    return 0;
  }
  return 0;
}
