#include "lexical/segments/document_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "lexical/filters/documents_by_rank.h"
#include "lexical/postings/packed_numbers.h"
#include "lexical/segments/mutable_rows.h"

using namespace oneiros::lexical;

namespace {

constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();

// Rows by length and, of one length, ascending; and the runs of the lengths.
struct Drawn {
  std::vector<std::uint32_t> rows;
  std::vector<LengthRun> runs;
};

Drawn draw(const std::set<std::uint32_t>& rows, std::uint32_t lengths, std::mt19937& random) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_length;
  for (const std::uint32_t row : rows) {
    by_length[static_cast<std::uint32_t>(random() % lengths)].push_back(row);
  }
  Drawn drawn;
  for (const auto& [length, of_length] : by_length) {
    drawn.runs.push_back(
        {.first = static_cast<DocumentNumber>(drawn.rows.size()), .length = length});
    drawn.rows.insert(drawn.rows.end(), of_length.begin(), of_length.end());
  }
  return drawn;
}

DocumentNumber found_in(const PackedRows& packed, std::uint32_t row,
                        std::span<const LengthRun> runs) {
  const std::size_t rank = packed.rank_of(row);
  return rank == packed.size() ? kNoDocument : packed.at(rank, runs);
}

}  // namespace

TEST_CASE("PackedNumbers: each comes back, in the bits that its block needs") {
  std::mt19937 random(1);
  for (const std::size_t size : {0, 1, 63, 64, 65, 1'000}) {
    for (const unsigned bits : {0, 1, 7, 31, 32}) {
      std::vector<std::uint32_t> numbers(size);
      for (std::uint32_t& number : numbers) {
        number = bits == 0 ? 17 : static_cast<std::uint32_t>(random()) >> (32 - bits);
      }
      const PackedNumbers packed =
          PackedNumbers::of(size, [&](std::size_t i) { return numbers[i]; });
      REQUIRE(packed.size() == size);
      packed.check(size);
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(packed[i] == numbers[i]);
      }
      CHECK(packed.resident_bytes() <= (size / 64 + 1) * (8 * bits + 8) + 16);
    }
  }
}

TEST_CASE("PackedRows: each row leads to its document and back, and no other row to any") {
  std::mt19937 random(2);
  for (const std::uint32_t missing : {0, 1, 3, 1'000'000}) {  // between two rows, at most
    for (const std::uint32_t lengths : {1, 5, 300}) {
      for (const std::size_t size : {1, 2, 64, 65, 700, 5'000}) {
        std::set<std::uint32_t> rows{kLast};
        for (std::uint32_t row = missing; rows.size() < size;) {
          rows.insert(row);
          row += 1 + (missing == 0 ? 0 : static_cast<std::uint32_t>(random() % missing));
          row = row < missing ? missing : row;
        }
        const Drawn drawn = draw(rows, lengths, random);
        const PackedRows packed(drawn.rows, drawn.runs);
        REQUIRE(packed.size() == drawn.rows.size());
        for (DocumentNumber i = 0; i < drawn.rows.size(); ++i) {
          CHECK(packed.rows()[i] == drawn.rows[i]);
          CHECK(found_in(packed, drawn.rows[i], drawn.runs) == i);
          for (const std::uint32_t other :
               {drawn.rows[i] - 1, drawn.rows[i] + 1, static_cast<std::uint32_t>(random())}) {
            const DocumentNumber found = found_in(packed, other, drawn.runs);
            CHECK((found == kNoDocument ? !rows.contains(other) : drawn.rows[found] == other));
          }
        }
        packed.check(drawn.runs);
        for (const std::uint32_t one_of : {1, 3, 50}) {
          std::vector<std::uint32_t> asked;
          std::vector<DocumentNumber> expected;
          for (const std::uint32_t row : rows) {
            const std::uint32_t other = row ^ (random() % 4 == 0 ? 1U : 0U);
            if (random() % one_of == 0 && (asked.empty() || other > asked.back())) {
              asked.push_back(other);
              if (found_in(packed, other, drawn.runs) != kNoDocument) {
                expected.push_back(found_in(packed, other, drawn.runs));
              }
            }
          }
          std::ranges::sort(expected);
          const std::vector<DocumentNumber> by_rank = packed.documents_by_rank(drawn.runs);
          for (const std::uint32_t row : asked) {
            const std::size_t rank = packed.rank_of(row);
            CHECK((rank == packed.size() || by_rank[rank] == packed.at(rank, drawn.runs)));
          }
          for (const DocumentNumber* const known :
               {by_rank.data(), static_cast<const DocumentNumber*>(nullptr)}) {
            std::vector<DocumentNumber> found = packed.find_each(asked, drawn.runs, known);
            std::ranges::sort(found);
            CHECK(found == expected);
          }
        }
      }
    }
  }
  CHECK(found_in(PackedRows(), 0, {}) == kNoDocument);
  CHECK(PackedRows().find_each(std::vector<std::uint32_t>{0, 7}, {}).empty());
}

TEST_CASE("PackedRows: rows that count up cost about what their lengths and order do") {
  std::mt19937 random(3);
  std::set<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 100'000; ++row) {
    rows.insert(rows.end(), row);
  }
  const Drawn drawn = draw(rows, 32, random);
  const PackedRows packed(drawn.rows, drawn.runs);
  CHECK(packed.row_bytes() < 8 * rows.size() / 8);        // five bits, and 1/64 of a block's place
  CHECK(packed.document_bytes() < 14 * rows.size() / 8);  // 64 rows of one length span 2048
}

TEST_CASE("PackedRows: where lengths follow rows, and where they do not, are found alike") {
  std::vector<std::uint32_t> rows;
  std::vector<LengthRun> runs;
  for (std::uint32_t length = 0; length < 20; ++length) {  // the longest came first
    runs.push_back({.first = static_cast<DocumentNumber>(rows.size()), .length = length});
    for (std::uint32_t i = 0; i < 500; ++i) {
      rows.push_back((19 - length) * 500 + i);
    }
  }
  const PackedRows packed(rows, runs);
  for (DocumentNumber i = 0; i < rows.size(); ++i) {
    CHECK(found_in(packed, rows[i], runs) == i);
  }
}

TEST_CASE("MutableRows: the last document of a row before a limit") {
  std::mt19937 random(4);
  MutableRows rows;
  CHECK(rows.find(0, kNoDocument) == kNoDocument);
  std::map<std::uint32_t, std::vector<DocumentNumber>> plain;
  for (DocumentNumber document = 0; document < 5'000; ++document) {
    const auto row =
        static_cast<std::uint32_t>(random() % 8 == 0 ? kLast - random() % 3 : random() % 1'000);
    rows.reserve();
    rows.append(row);
    plain[row].push_back(document);
    if (document % 16 != 0) {
      continue;
    }
    for (const std::uint32_t asked : {row, static_cast<std::uint32_t>(random() % 1'000)}) {
      const auto limit = static_cast<DocumentNumber>(random() % 6'000);
      const std::vector<DocumentNumber>& of_row = plain[asked];
      const auto end = std::ranges::lower_bound(of_row, limit);
      CHECK(rows.find(asked, limit) == (end == of_row.begin() ? kNoDocument : *(end - 1)));
    }
  }
}

TEST_CASE("MutableRows: what was there before a reader came, it finds while others are added") {
  constexpr DocumentNumber kDocuments = 20'000;
  constexpr std::uint32_t kRows = 700;
  MutableRows rows;
  std::atomic<DocumentNumber> published = 0;
  std::atomic<std::size_t> wrong = 0;
  std::thread reader([&] {
    std::mt19937 random(5);
    for (DocumentNumber limit = 0; limit < kDocuments; limit = published.load()) {
      for (int i = 0; i < 20 && limit > kRows; ++i) {
        const auto row = static_cast<std::uint32_t>(random() % kRows);
        const DocumentNumber last = (limit - 1 - row) / kRows * kRows + row;
        wrong += rows.find(row, limit) == last ? 0 : 1;
      }
    }
  });
  for (DocumentNumber document = 0; document < kDocuments; ++document) {
    rows.reserve();
    rows.append(document % kRows);
    published.store(document + 1);
  }
  reader.join();
  CHECK(wrong == 0);
}

TEST_CASE("DocumentsByRank: made once for all threads, when so many were asked for that it pays") {
  std::mt19937 random(9);
  std::set<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 6'400; ++row) {
    rows.insert(rows.end(), row);
  }
  const Drawn drawn = draw(rows, 7, random);
  const PackedRows packed(drawn.rows, drawn.runs);
  const std::vector<DocumentNumber> expected = packed.documents_by_rank(drawn.runs);
  DocumentsByRank by_rank;
  CHECK(by_rank.for_asked(100, packed, drawn.runs) == nullptr);
  CHECK(by_rank.resident_bytes() == 0);
  std::atomic<std::size_t> wrong_count = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        const DocumentNumber* const known = by_rank.for_asked(40, packed, drawn.runs);
        wrong_count += known != nullptr && !std::equal(expected.begin(), expected.end(), known);
      }
    });
  }
  threads.clear();
  CHECK(wrong_count == 0);
  CHECK(by_rank.for_asked(0, packed, drawn.runs) != nullptr);
  CHECK(by_rank.resident_bytes() >= expected.size() * sizeof(DocumentNumber));
}
