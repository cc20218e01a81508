// One writer, many readers; run under TSan.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "lexical/index/index.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;
using testing::PlainIndex;
using testing::same;

namespace {

constexpr std::uint32_t kRowEnd = 40;
const std::vector<TermId> kWords{0, 3, 5};

// One call of a writer: a batch, a removal or a seal.
struct Write {
  std::vector<Document> documents;
  std::uint32_t removed = kRowEnd;
};

// What readers may see after each number of writes, worked out beforehand and by one thread.
struct History {
  WeighedQuery query;  // one measure for the scores of all states
  std::vector<Write> writes;
  std::vector<std::vector<Hit>> hits;
  std::vector<std::vector<double>> scores;  // by row
};

std::vector<std::uint32_t> all_rows() {
  std::vector<std::uint32_t> rows(kRowEnd);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

History make_history(std::uint32_t write_count) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  History history;
  PlainIndex plain({});
  Index replayed({});
  const auto note = [&] {
    history.hits.push_back(plain.size() == 0 ? std::vector<Hit>{}
                                             : plain.search(kWords, kRowEnd, {}));
    history.scores.emplace_back(kRowEnd);
    replayed.score_rows(history.query, all_rows(), history.scores.back());
  };
  const Document first = document_of(0, {0, 0, 3, 5, 1});
  replayed.add({&first, 1});
  history.query = replayed.weigh(count_query_terms(kWords));
  replayed.remove(0);
  note();
  for (std::uint32_t number = 1; number <= write_count; ++number) {
    Write write;
    if (number % 5 == 3) {
      write.removed = below(kRowEnd);
      plain.remove(write.removed);
      replayed.remove(write.removed);
    } else if (number % 11 != 0) {
      for (std::uint32_t count = 1 + below(6); count > 0; --count) {  // a row may come twice
        const std::uint32_t row = below(kRowEnd);
        std::vector<TermId> terms(1 + number % 29, 0);  // so that a text tells which write it is of
        terms.push_back(1 + below(6));
        terms.push_back(100 + number);
        plain.add(row, terms);
        write.documents.push_back(document_of(row, terms));
      }
      replayed.add(write.documents);
    }
    history.writes.push_back(write);
    note();
  }
  return history;
}

}  // namespace

TEST_CASE("Index: every search sees the state between two writes, and no older one than before") {
  constexpr std::uint32_t kWrites = rounds(3'000U, 600U);
  const History history = make_history(kWrites);
  Index index({}, {.documents = 16, .postings = 1U << 20U, .fan_in = 3});
  std::atomic<std::uint32_t> begun = 0;
  std::atomic<std::uint32_t> ended = 0;
  std::atomic<std::uint64_t> wrong_count = 0;
  const auto search = [&] {
    std::uint32_t least = 0;  // the oldest state that all seen so far allows
    while (least != kWrites) {
      least = std::max(least, ended.load());
      const Found found = index.search(count_query_terms(kWords), kRowEnd, {});
      const std::uint32_t most = begun.load();
      while (least <= most && !same(found.hits, history.hits[least])) {
        ++least;
      }
      if (least > most) {
        ++wrong_count;
        return;
      }
    }
  };
  const auto score = [&] {
    const std::vector<std::uint32_t> rows = all_rows();
    std::vector<double> scores(kRowEnd);
    for (std::uint32_t least = 0; least != kWrites;) {
      least = ended.load();
      index.score_rows(history.query, rows, scores);
      const std::uint32_t most = begun.load();
      for (const std::uint32_t row : rows) {
        bool is_known = false;
        for (std::uint32_t state = least; state <= most; ++state) {
          is_known = is_known || history.scores[state][row] == scores[row];
        }
        wrong_count += is_known ? 0U : 1U;
      }
    }
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back(search);
      readers.emplace_back(score);
    }
    for (const Write& write : history.writes) {
      ++begun;
      if (!write.documents.empty()) {
        index.add(write.documents);
      } else if (write.removed != kRowEnd) {
        index.remove(write.removed);
      } else {
        index.seal();
      }
      ++ended;
    }
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("Index: searches begin and end while a writer is amid its batch") {
  Index index({});
  const Document first = document_of(0, {0});
  index.add({&first, 1});
  std::vector<Document> batch;
  for (std::uint32_t row = 1; row < 60'000; ++row) {
    batch.push_back(document_of(row, {0, row, 2 * row, 3 * row}));
  }
  std::atomic<bool> is_done = false;
  std::uint64_t during_count = 0;
  std::uint64_t torn_count = 0;
  {
    const std::jthread writer([&] {
      index.add(batch);
      is_done = true;
    });
    while (!is_done.load()) {
      const std::size_t count =
          index.search(count_query_terms(std::vector<TermId>{0}), 100'000, {}).hits.size();
      torn_count += count == 1 || count == 60'000 ? 0U : 1U;
      during_count += count == 1 && !is_done.load() ? 1U : 0U;
      torn_count += index.contains(0) ? 0U : 1U;
    }
  }
  CHECK(torn_count == 0);
  CHECK(during_count > 10);
  CHECK(index.document_count() == 60'000);
}

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
      torn_count += !hits.empty() && index.resident_bytes() == 0 ? 1U : 0U;
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
