// One writer, many readers; run under TSan.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "lexical/index.h"
#include "tests/lexical/plain_index.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using testing::document_of;

// Every document holds term 0, and batches of four come and go together: a reader that sees one
// of a batch sees all of it.
TEST_CASE("Index: readers see whole batches while a writer adds, updates, removes and merges") {
  constexpr std::uint32_t kBatches = 300;
  constexpr std::uint32_t kBatch = 4;
  Index index({}, {.documents = 16, .postings = 1U << 20U, .fan_in = 4});
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> torn_count = 0;
  const auto read = [&] {
    while (!is_done.load()) {
      const auto [hits, query] = index.search(count_query_terms(std::vector<TermId>{0}),
                                              std::size_t{kBatches} * kBatch, {});
      torn_count += hits.size() % kBatch;
      torn_count += index.resident_bytes() == 0 ? 1U : 0U;
      torn_count += index.document_count() % kBatch;
    }
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back(read);
    }
    for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
      std::vector<Document> documents;
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        const std::uint32_t row = batch / 2 * 2 * kBatch + i;  // every second batch is an update
        documents.push_back(document_of(row, {0, 1 + batch, 1 + batch, 500 + row}));
      }
      index.add(documents);
    }
    is_done = true;
  }
  CHECK(torn_count == 0);
  CHECK(index.document_count() == kBatches / 2 * kBatch);
}

TEST_CASE("Index: removal beside readers") {
  constexpr std::uint32_t kRows = 400;
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 2});
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Document document = document_of(row, {0, row});
    index.add({&document, 1});
  }
  std::atomic<std::uint32_t> removed = 0;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    const std::jthread reader([&] {
      while (removed.load() < kRows) {
        const std::uint32_t gone = removed.load();
        const Found found = index.search(count_query_terms(std::vector<TermId>{0}), kRows, {});
        for (const Hit& hit : found.hits) {
          wrong_count += hit.row < gone ? 1U : 0U;
        }
      }
    });
    for (std::uint32_t row = 0; row < kRows; ++row) {
      index.remove(row);
      removed = row + 1;
    }
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("Index: rows are found wherever the writer moves them") {
  constexpr std::uint32_t kRows = 200;
  Index index({}, {.documents = 8, .postings = 1U << 20U, .fan_in = 2});
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const Document document = document_of(row, {0, 1 + row % 3});
    index.add({&document, 1});
  }
  const WeighedQuery query = index.weigh(count_query_terms(std::vector<TermId>{0, 2}));
  std::vector<std::uint32_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<double> want(kRows);
  index.score_rows(query, rows, want);
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back([&] {
        std::vector<double> scores(kRows);
        while (!is_done.load()) {
          index.score_rows(query, rows, scores);
          wrong_count += scores == want ? 0U : 1U;
        }
      });
    }
    for (std::uint32_t round = 0; round < 600; ++round) {
      const std::uint32_t row = round % kRows;  // the same text again, in another place
      const Document document = document_of(row, {0, 1 + row % 3});
      index.add({&document, 1});
      if (round % 7 == 0) {
        index.seal();
      }
    }
    is_done = true;
  }
  CHECK(wrong_count == 0);
}
