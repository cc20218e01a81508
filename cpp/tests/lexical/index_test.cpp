#include "lexical/index/index.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;
using testing::PlainIndex;
using testing::same;

namespace {

constexpr std::array kVariants{"lucene", "robertson", "atire", "bm25plus", "bm25l"};

// Few large frequencies, many small ones, like words.
class Texts {
 public:
  explicit Texts(std::uint32_t seed) : random_(seed) {}

  std::vector<TermId> make(std::size_t longest, TermId vocabulary) {
    std::vector<TermId> terms(below(longest + 1));
    for (TermId& term : terms) {
      term = static_cast<TermId>(below(1 + below(vocabulary)));
    }
    return terms;
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::mt19937 random_;
};

std::vector<Hit> search(const Index& index, const std::vector<TermId>& query, std::size_t k,
                        const AllowedRows& allowed = {}) {
  return index.search(count_query_terms(query), k, allowed).hits;
}

// Whether each row, found or not, has the score of `hits`, the bits that a search gave.
bool scores_rows_as(const Index& index, const std::vector<TermId>& query,
                    const std::vector<Hit>& hits, std::uint32_t row_end) {
  std::vector<double> want(row_end, 0.0);
  std::vector<std::uint32_t> rows;
  for (const Hit& hit : hits) {
    want[hit.row] = hit.score;
  }
  for (std::uint32_t row = row_end; row > 0; --row) {
    rows.push_back(row - 1);
  }
  rows.push_back(0);  // a row may come twice
  std::vector<double> scores(rows.size(), -1.0);
  index.score_rows(index.weigh(count_query_terms(query)), rows, scores);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (scores[i] != want[rows[i]]) {
      return false;
    }
  }
  return true;
}

void add(Index& index, std::uint32_t row, const std::vector<TermId>& terms) {
  const Document document = document_of(row, terms);
  index.add({&document, 1});
}

}  // namespace

TEST_CASE("Index: nothing in, nothing out") {
  Index index({});
  CHECK(search(index, {1, 2}, 10).empty());
  CHECK(index.document_count() == 0);
  CHECK(index.segment_count() == 0);
  CHECK_FALSE(index.remove(0));
  index.seal();
  add(index, 3, {});  // a document without a term: the average length is 0
  CHECK(index.document_count() == 1);
  CHECK(search(index, {1}, 10).empty());
  add(index, 4, {7});
  CHECK(search(index, {7}, 0).empty());
  CHECK(search(index, {}, 5).empty());
  CHECK(search(index, {8}, 5).empty());
  CHECK(search(index, {7}, std::size_t{1} << 62U).size() == 1);
  CHECK(scores_rows_as(index, {8}, {}, 2'000));
  CHECK(scores_rows_as(index, {}, {}, 2'000));
}

TEST_CASE("Index: lucene by hand") {
  Index index(make_bm25("lucene", 1.2, 0.75, 0));
  add(index, 10, {0, 1});     // red fox
  add(index, 11, {0, 0, 2});  // red red dog
  add(index, 12, {3, 4});     // blue fish
  const std::vector<Hit> hits = search(index, {0}, 2);
  REQUIRE(hits.size() == 2);
  const double idf_red = std::log(1 + 1.5 / 2.5);
  CHECK(hits[0].row == 11);
  CHECK(hits[0].score == doctest::Approx(idf_red * 2 / (2 + 1.2 * (0.25 + 0.75 * 9 / 7))));
  CHECK(hits[1].row == 10);
  CHECK(hits[1].score == doctest::Approx(idf_red * 1 / (1 + 1.2 * (0.25 + 0.75 * 6 / 7))));
}

TEST_CASE("Index: any history gives the plain index's bits") {
  for (const char* const variant : kVariants) {
    CAPTURE(variant);
    for (std::uint32_t seed = 0; seed < rounds(12U); ++seed) {
      CAPTURE(seed);
      Texts texts(seed);
      const Bm25 bm25 = make_bm25(variant, 1.2, 0.75, 0.5);
      Index index(bm25, {.documents = 1 + texts.below(40), .postings = 200, .fan_in = 3});
      PlainIndex plain(bm25);
      for (int step = 0; step < 400; ++step) {
        const auto row = static_cast<std::uint32_t>(texts.below(90));
        if (texts.below(10) < 7) {
          const std::vector<TermId> terms = texts.make(20, 60);
          add(index, row, terms);
          plain.add(row, terms);
        } else if (texts.below(10) < 9) {
          CHECK(index.remove(row) == plain.remove(row));
        } else {
          index.seal();
        }
        if (step % 10 == 0) {
          std::vector<std::uint8_t> bits(texts.below(12));
          for (std::uint8_t& byte : bits) {
            byte = static_cast<std::uint8_t>(texts.below(256));
          }
          const std::vector<TermId> query = texts.make(8, 60);
          const std::size_t k = texts.below(30);
          CHECK(same(search(index, query, k), plain.search(query, k, {})));
          CHECK(same(search(index, query, k, AllowedRows(bits)),
                     plain.search(query, k, AllowedRows(bits))));
          CHECK(scores_rows_as(index, query, plain.search(query, 90, {}), 95));
          CHECK(index.document_count() == plain.size());
        }
      }
    }
  }
}

TEST_CASE("Index: long lists over many windows, rare words, long documents") {
  Texts texts(5);
  const Bm25 bm25 = make_bm25("lucene", 0.9, 0.4, 0);
  Index index(bm25, {.documents = 5'000, .postings = 1U << 20U, .fan_in = 3});
  PlainIndex plain(bm25);
  std::vector<Document> batch;
  for (std::uint32_t row = 0; row < 12'000; ++row) {
    std::vector<TermId> terms = texts.make(6, 500);
    if (row % 3'000 == 7) {
      terms.resize(700, 3);  // past what the table of saturations holds
    }
    batch.push_back(document_of(row, terms));
    plain.add(row, terms);
    if (batch.size() == 100) {
      index.add(batch);
      batch.clear();
    }
  }
  CHECK(index.segment_count() == 3);
  for (const std::vector<TermId>& query :
       {std::vector<TermId>{0}, {3, 450, 3}, {499, 0, 1, 2}, {480, 481, 482}}) {
    for (const std::size_t k : {1U, 10U, 3'000U}) {
      CHECK(same(search(index, query, k), plain.search(query, k, {})));
    }
    CHECK(scores_rows_as(index, query, plain.search(query, 12'000, {}), 12'000));
  }
}

TEST_CASE("Index: rows are scored by the search's own measure, whatever was written since") {
  Index index({}, {.documents = 4, .postings = 100, .fan_in = 2});
  for (std::uint32_t row = 0; row < 10; ++row) {
    add(index, row, {0, row, row});
  }
  const Found found = index.search(count_query_terms(std::vector<TermId>{0, 3}), 10, {});
  REQUIRE(found.hits.size() == 10);
  for (std::uint32_t row = 10; row < 90; ++row) {
    add(index, row, {0, 3, 3, 3});
  }
  index.remove(9);
  for (const Hit& hit : found.hits) {
    double score = -1.0;
    index.score_rows(found.query, {&hit.row, 1}, {&score, 1});
    CHECK(score == (hit.row == 9 ? 0.0 : hit.score));
  }
  std::vector<double> lengths(4);
  index.lengths_of(std::vector<std::uint32_t>{50, 9, 1'000, 0}, lengths);
  CHECK(lengths == std::vector<double>{4.0, 0.0, 0.0, 3.0});
}

TEST_CASE("Index: what documents say is the sum of the idf of their distinct terms") {
  Index index({}, {.documents = 4, .postings = 100, .fan_in = 2});
  add(index, 7, {0, 1, 1});
  add(index, 2, {0, 2});
  for (std::uint32_t row = 10; row < 18; ++row) {  // into sealed segments
    add(index, row, {0, 3});
  }
  add(index, 30, {5});
  index.remove(30);
  std::vector<double> information(4);
  const auto none = [](std::span<const TermId> terms) {
    return std::vector<std::array<TermId, 2>>(terms.size(),
                                              {oneiros::kUnknownTerm, oneiros::kUnknownTerm});
  };
  index.information_of(std::vector<std::uint32_t>{7, 2, 30, 900}, none, information);
  const double everywhere = idf(Bm25Variant::kLucene, 10, 10);
  const double once = idf(Bm25Variant::kLucene, 10, 1);
  CHECK(information[0] == everywhere + once);
  CHECK(information[1] == everywhere + once);
  CHECK(information[2] == 0.0);
  CHECK(information[3] == 0.0);
  const auto pairs = [&](std::span<const TermId> terms) {  // 1 is a pair of 0 and an unused 9
    auto singles = none(terms);
    singles[static_cast<std::size_t>(std::ranges::find(terms, 1U) - terms.begin())] = {0, 9};
    return singles;
  };
  index.information_of(std::vector<std::uint32_t>{7, 2, 30, 900}, pairs, information);
  CHECK(information[0] == once);
  CHECK(information[1] == everywhere + once);
}

TEST_CASE("Index: what died is given back") {
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 4});
  Texts texts(9);
  for (std::uint32_t row = 0; row < 640; ++row) {
    add(index, row, texts.make(30, 100));
  }
  const std::size_t full = index.resident_bytes();
  for (std::uint32_t row = 0; row < 640; ++row) {
    CHECK(index.contains(row));
    CHECK(index.remove(row));
    CHECK_FALSE(index.contains(row));
  }
  index.seal();
  CHECK(index.document_count() == 0);
  CHECK(index.segment_count() == 0);
  CHECK(index.resident_bytes() < full / 2);
  CHECK(search(index, {0, 1, 2}, 10).empty());
}

TEST_CASE("count_query_terms: by first appearance, with counts") {
  const std::vector<QueryTerm> terms = count_query_terms(std::vector<TermId>{5, 2, 5, 9, 2, 5});
  REQUIRE(terms.size() == 3);
  CHECK(terms[0].term == 5);
  CHECK(terms[0].count == 3);
  CHECK(terms[1].term == 2);
  CHECK(terms[1].count == 2);
  CHECK(terms[2].count == 1);
}
