#include "lexical/segments/document_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "lexical/segments/document.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::Occurrence;
using oneiros::TermId;

namespace {

struct Fields {
  std::vector<Occurrence> title;
  std::vector<Occurrence> text;
  std::vector<Occurrence> tags;

  Document counted(std::uint32_t row, const FieldWeights& weights = {}) const {
    return count_terms(row, {title, text, tags}, weights);
  }
};

// Terms of all lengths, places close and far, several at one place.
std::vector<Occurrence> random_field(std::mt19937& random, std::size_t most) {
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  std::vector<Occurrence> occurrences(below(static_cast<std::uint32_t>(most) + 1));
  std::uint32_t position = below(3);
  for (Occurrence& occurrence : occurrences) {
    occurrence = {.term = below(1U << (1 + below(31))), .position = position};
    position += below(8) == 0 ? 1U << below(20) : below(3);
  }
  return occurrences;
}

void check_same(const DocumentTable& table, DocumentNumber number, const Fields& fields) {
  Fields read;
  std::set<TermId> seen;
  std::vector<std::uint8_t> scratch;
  bool are_repeats_told = true;
  for_each_occurrence(table.occurrences(number, scratch), [&](const FieldOccurrence& one) {
    std::vector<Occurrence>& field = one.field == kTitleField  ? read.title
                                     : one.field == kTextField ? read.text
                                                               : read.tags;
    field.push_back({.term = one.term, .position = one.position});
    are_repeats_told = are_repeats_told && one.is_repeat == !seen.insert(one.term).second;
  });
  const auto same = [](const Occurrence& left, const Occurrence& right) {
    return left.term == right.term && left.position == right.position;
  };
  CHECK(std::ranges::equal(read.title, fields.title, same));
  CHECK(std::ranges::equal(read.text, fields.text, same));
  CHECK(std::ranges::equal(read.tags, fields.tags, same));
  CHECK(are_repeats_told);
  std::vector<TermId> terms;
  table.for_each_term(number, [&](TermId term) { terms.push_back(term); });
  CHECK(terms.size() == seen.size());
  CHECK(std::set<TermId>(terms.begin(), terms.end()) == seen);
}

}  // namespace

TEST_CASE("DocumentTable: occurrences come back as they went in, field by field" *
          doctest::test_suite("not_under_tsan")) {
  std::mt19937 random(5);
  std::vector<Fields> documents{{}, {.title = {{0, 0}}, .text = {}, .tags = {}}};
  documents.push_back({.title = {}, .text = {}, .tags = {{0xFFFFFFFE, 0xFFFFFFFE}}});
  for (int i = 0; i < 200; ++i) {
    // A few of them past what 16 bits count.
    documents.push_back({.title = random_field(random, 9),
                         .text = random_field(random, i % 60 == 3 ? 40'000 : 30),
                         .tags = random_field(random, 9)});
  }
  documents.push_back({.title = {}, .text = {}, .tags = {}});
  documents.back().text.assign(70'000, {.term = 300, .position = 0});
  // Copies of few documents, of all, and of so many that they are packed, and of those.
  DocumentTable table;
  std::vector<DocumentTable::Origin> origins;
  for (std::uint32_t i = 0; i < documents.size(); ++i) {
    CHECK(table.append(documents[i].counted(10 + i)) == i);
    origins.push_back({.table = &table, .number = i});
  }
  DocumentTable few;
  few.copy(std::span(origins).first(40));
  std::vector<DocumentTable::Origin> repeated;
  for (int i = 0; i < 8; ++i) {
    repeated.insert(repeated.end(), origins.begin(), origins.end());
  }
  DocumentTable many;
  many.copy(repeated);
  CHECK(many.resident_bytes() < 8 * table.resident_bytes());
  std::vector<DocumentTable::Origin> again;
  for (std::uint32_t i = 0; i < repeated.size(); ++i) {
    again.push_back({.table = &many, .number = i});
  }
  DocumentTable twice;
  twice.copy(again);
  for (std::uint32_t i = 0; i < repeated.size(); i += oneiros::testing::kSampleStep) {
    CAPTURE(i);
    const std::size_t original = i % documents.size();
    for (const DocumentTable* const one : {&table, &few, &many, &twice}) {
      if (i < one->size() && (one != &table || i < 40)) {
        check_same(*one, i, documents[original]);
        CHECK(one->rows()[i] == 10 + original);
        CHECK(one->lengths()[i] == table.lengths()[static_cast<DocumentNumber>(original)]);
      }
    }
  }
}

TEST_CASE("count_terms: frequencies and lengths are weighted sums over the fields") {
  const Fields fields{
      .title = {{7, 0}, {5, 1}}, .text = {{5, 0}, {5, 3}, {9, 4}}, .tags = {{7, 0}}};
  const Document document = fields.counted(3, make_field_weights(2.0, 1.5));
  REQUIRE(document.terms.size() == 3);
  CHECK(document.terms[0].term == 5);
  CHECK(document.terms[0].frequency == 2 * (2 + 1 + 1));
  CHECK(document.terms[1].frequency == 2 * 2 + 3);
  CHECK(document.terms[2].frequency == 2);
  CHECK(document.length == 2 * (2 * 2 + 3) + 3);
  CHECK(fields.counted(3).length == 6);
}

TEST_CASE("make_field_weights: whole parts, and no others") {
  const FieldWeights plain = make_field_weights(1.0, 1.0);
  CHECK(plain.part == 1.0);
  CHECK(plain.of(kTextField) == 1);
  const FieldWeights fine = make_field_weights(0.25, 8.0);
  CHECK(fine.part == 0.25);
  CHECK(fine.of(kTitleField) == 1);
  CHECK(fine.of(kTextField) == 4);
  CHECK(fine.of(kTagsField) == 32);
  for (const double wrong : {0.0, -1.0, 0.3, 8.25, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(make_field_weights(wrong, 1.0), std::invalid_argument);
    CHECK_THROWS_AS(make_field_weights(1.0, wrong), std::invalid_argument);
  }
}

TEST_CASE("DocumentTable: readers find the occurrences of the first n documents") {
  constexpr DocumentNumber kDocuments = 5'000;
  DocumentTable table;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    const std::jthread reader([&] {
      std::vector<std::uint8_t> scratch;
      for (std::size_t size = 0; size < kDocuments;) {
        size = table.size();
        for (std::size_t number = 0; number < size; number += 1 + size / 50) {
          const auto at = static_cast<DocumentNumber>(number);
          std::uint32_t count = 0;
          for_each_occurrence(table.occurrences(at, scratch), [&](const FieldOccurrence& one) {
            wrong_count += one.term == at + count++ ? 0U : 1U;
          });
          wrong_count += count == at % 40 ? 0U : 1U;
        }
      }
    });
    for (DocumentNumber number = 0; number < kDocuments; ++number) {
      Fields fields;
      for (std::uint32_t i = 0; i < number % 40; ++i) {
        fields.text.push_back({.term = number + i, .position = 2 * i});
      }
      table.append(fields.counted(number));
    }
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("DocumentTable: a document lives in the epochs before its death") {
  DocumentTable table;
  for (std::uint32_t row = 0; row < 3'000; ++row) {
    table.append({.row = row, .length = 1});
  }
  for (const auto& [number, epoch] : std::vector<std::pair<DocumentNumber, Epoch>>{
           {0, 5}, {63, 5}, {64, 7}, {2'999, Epoch{1} << 40U}}) {
    table.reserve_death(number);
    table.die(number, epoch);
    CHECK(table.is_alive_at(number, epoch - 1));
    CHECK_FALSE(table.is_alive_at(number, epoch));
    CHECK(table.death(number) == epoch);
  }
  CHECK(table.is_alive_at(1, std::numeric_limits<Epoch>::max()));
  CHECK(table.is_alive_at(2'000, std::numeric_limits<Epoch>::max()));
  CHECK(table.extent().dead_count == 4);
}
