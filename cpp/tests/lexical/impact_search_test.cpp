#include "lexical/search/impact_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lexical/index/index.h"
#include "simd/path.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;
using testing::PlainIndex;
using testing::same;

namespace {

// More documents than a window holds. A few terms stand in most documents, most in few; some
// documents are very long.
struct World {
  explicit World(const Bm25& bm25, std::size_t documents, std::size_t usual_length)
      : index(bm25, {.documents = documents / 3}), plain(bm25) {
    for (std::uint32_t row = 0; row < documents; ++row) {
      add(row, usual_length);
    }
    for (std::uint32_t row = 0; row < documents; row += 7) {
      index.remove(row);
      plain.remove(row);
    }
    index.seal();
    for (std::uint32_t row = 3; row < documents; row += 501) {
      index.remove(row);  // dead in a sealed segment
      plain.remove(row);
    }
    for (std::uint32_t row = 1; row < documents; row += 1'001) {
      add(row, usual_length);  // some in a growing one
    }
  }

  void add(std::uint32_t row, std::size_t usual_length) {
    const std::size_t length =
        1 + random() % (random() % 50 == 0 ? 30 * usual_length : usual_length);
    std::vector<TermId> terms(length);
    for (TermId& term : terms) {
      term = some_term();
    }
    const Document document = document_of(row, terms);
    index.add({&document, 1});
    plain.add(row, terms);
  }

  TermId some_term() { return static_cast<TermId>(random() % (1U << random() % 14)); }

  std::mt19937 random{11};
  Index index;
  PlainIndex plain;
};

void check_searches(World& world, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<TermId> query;
    for (std::size_t terms = 1 + world.random() % 6; terms > 0; --terms) {
      query.push_back(world.some_term());
    }
    std::vector<std::uint8_t> bits(8'000);
    for (std::uint8_t& byte : bits) {
      byte = static_cast<std::uint8_t>(world.random() % 64 == 0 ? world.random() : 0U);
    }
    std::vector<std::uint8_t> many_bits(8'000);  // whose rows are looked up
    for (std::uint8_t& byte : many_bits) {
      byte = static_cast<std::uint8_t>(world.random() % 2 == 0 ? 1U << world.random() % 8 : 0U);
    }
    std::vector<std::uint8_t> few_bits(8'000);
    for (int few = 0; few < 15; ++few) {
      few_bits[world.random() % few_bits.size()] = 4;
    }
    for (const AllowedRows& allowed :
         {AllowedRows(), AllowedRows(bits), AllowedRows(many_bits), AllowedRows(few_bits)}) {
      const std::vector<Hit> want = world.plain.search(query, 60'000, allowed);
      for (const std::size_t k :
           {std::size_t{1}, std::size_t{10}, std::size_t{200}, std::size_t{60'000}}) {
        const std::vector<Hit> best(
            want.begin(), want.begin() + static_cast<std::ptrdiff_t>(std::min(k, want.size())));
        CHECK(same(world.index.search(count_query_terms(query), k, allowed).hits, best));
      }
    }
  }
}

}  // namespace

TEST_CASE("search_impacts: what exhaustive scoring finds, to the bit, with every variant") {
  for (const char* const variant : {"lucene", "atire", "bm25plus", "bm25l"}) {
    World world(make_bm25(variant, 1.2, 0.75, 0.5), 5'000, 12);
    check_searches(world, rounds(6U));
  }
}

TEST_CASE("search_impacts: over several windows, on every SIMD path" *
          doctest::test_suite("not_under_tsan")) {
  World world(make_bm25("lucene", 0.9, 1.0, 0.0, 50.0), 45'000, 8);
  const std::string_view best =
      oneiros::kSimdPathNames[static_cast<std::size_t>(oneiros::simd_path())];
  for (const oneiros::SimdPath path : oneiros::simd_paths()) {
    oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(path)]);
    world.random.seed(5);
    check_searches(world, rounds(4U));
  }
  oneiros::use_simd_path(best);
}

TEST_CASE("search_impacts: long documents, whose cells are of many pairs" *
          doctest::test_suite("not_under_tsan")) {
  World world(make_bm25("lucene", 2.0, 1.0, 0.0), 4'000, 150);
  check_searches(world, rounds(8U));
}

TEST_CASE("search_impacts: the best of a term, known beforehand, exclude no equal score" *
          doctest::test_suite("not_under_tsan")) {
  // Documents of few kinds: most scores occur more often than k.
  for (const double b : {0.0, 0.75, 1.0}) {
    const Bm25 bm25 = make_bm25("lucene", 1.2, b, 0.0);
    Index index(bm25);
    PlainIndex plain(bm25);
    std::mt19937 random(3);
    const auto add = [&](std::uint32_t row, std::size_t longest) {
      std::vector<TermId> terms(1 + random() % longest);
      for (TermId& term : terms) {
        term = static_cast<TermId>(random() % 6);
      }
      const Document document = document_of(row, terms);
      index.add({&document, 1});
      plain.add(row, terms);
    };
    const auto check = [&] {
      const std::vector<std::uint8_t> odd(500, 0xAA);
      for (const std::vector<TermId>& query :
           {std::vector<TermId>{0}, std::vector<TermId>{1, 2}, std::vector<TermId>{3, 4, 5, 5}}) {
        for (const AllowedRows& allowed : {AllowedRows(), AllowedRows(odd)}) {
          const std::vector<Hit> want = plain.search(query, 5'000, allowed);
          for (const std::size_t k : {1U, 9U, 10U, 11U, 70U, 99U, 100U, 101U}) {
            const std::vector<Hit> best(
                want.begin(), want.begin() + static_cast<std::ptrdiff_t>(std::min(k, want.size())));
            CHECK(same(index.search(count_query_terms(query), k, allowed).hits, best));
          }
        }
      }
    };
    for (std::uint32_t row = 4'000; row-- > 1'000;) {  // a tie's first row comes last
      add(row, 8);
    }
    index.seal();
    check();
    for (std::uint32_t i = 0; i < 150; ++i) {  // the best of the sealed segment die
      const std::uint32_t row = plain.search({0}, 1, AllowedRows()).front().row;
      index.remove(row);
      plain.remove(row);
      if (i % 30 == 0) {
        check();
      }
    }
    for (std::uint32_t row = 0; row < 300; ++row) {  // and the average length grows
      add(row, 400);
    }
    check();
  }
}

TEST_CASE("search_impacts: among any share of the rows, asked for again and again") {
  World world(make_bm25("lucene", 1.2, 0.75, 0.0), 6'000, 10);
  struct Filter {
    std::vector<std::uint8_t> bits;
    std::vector<TermId> query;
  };
  std::vector<Filter> filters;
  for (const std::size_t one_of : {1U, 2U, 7U, 12U, 40U, 300U, 6'000U}) {
    Filter filter{.bits = std::vector<std::uint8_t>(800), .query = {}};
    for (std::uint32_t row = 0; row < 6'000; ++row) {
      if (world.random() % one_of == 0) {
        filter.bits[row / 8] = static_cast<std::uint8_t>(filter.bits[row / 8] | 1U << row % 8U);
      }
    }
    for (int terms = 0; terms < 4; ++terms) {
      filter.query.push_back(world.some_term());
    }
    filters.push_back(std::move(filter));
  }
  const auto check = [&] {
    for (const Filter& filter : filters) {
      const AllowedRows allowed(filter.bits);
      const std::vector<Hit> want = world.plain.search(filter.query, 6'000, allowed);
      for (const std::size_t k : {1U, 10U, 100U, 6'000U}) {
        const std::vector<Hit> best(
            want.begin(), want.begin() + static_cast<std::ptrdiff_t>(std::min(k, want.size())));
        CHECK(same(world.index.search(count_query_terms(filter.query), k, allowed).hits, best));
      }
    }
  };
  for (int again = 0; again < 4; ++again) {
    check();
  }
  for (std::uint32_t row = 2; row < 6'000; row += 5) {  // some die, some move
    world.index.remove(row);
    world.plain.remove(row);
  }
  check();
  for (std::uint32_t row = 4; row < 6'000; row += 5) {
    world.add(row, 10);
  }
  check();
  world.index.seal();
  check();
  for (Filter& filter : filters) {  // almost the same rows
    filter.bits.back() ^= 1U;
    filter.bits.front() ^= 2U;
  }
  for (int again = 0; again < 3; ++again) {
    check();
  }
}

TEST_CASE("search_impacts: another set each time, while documents come, die and are merged") {
  std::mt19937 random(17);
  const Bm25 bm25 = make_bm25("lucene", 0.9, 0.4, 0.0);
  Index index(bm25, {.documents = 700, .fan_in = 3});
  PlainIndex plain(bm25);
  std::vector<std::uint8_t> written(1'000);  // a set that rows are added to
  std::uint32_t next = 0;
  const auto some_term = [&] { return static_cast<TermId>(random() % (1U << random() % 9)); };
  const auto add = [&](std::uint32_t row) {
    std::vector<TermId> terms(1 + random() % 9);
    std::ranges::generate(terms, some_term);
    const Document document = document_of(row, terms);
    index.add({&document, 1});
    plain.add(row, terms);
  };
  const auto check = [&](const std::vector<std::uint8_t>& bits) {
    const std::vector<TermId> query{some_term(), some_term(), some_term()};
    const std::vector<Hit> want = plain.search(query, 8'000, AllowedRows(bits));
    for (const std::size_t k : {3U, 10U, 400U}) {
      const std::vector<Hit> best(
          want.begin(), want.begin() + static_cast<std::ptrdiff_t>(std::min(k, want.size())));
      CHECK(same(index.search(count_query_terms(query), k, AllowedRows(bits)).hits, best));
    }
  };
  for (int step = 0; step < rounds(20, 10); ++step) {
    for (int added = 0; added < 200; ++added) {
      if (next % 20 == 0) {
        written[next / 8] = static_cast<std::uint8_t>(written[next / 8] | 1U << next % 8);
      }
      add(next++);
    }
    if (step > 6) {  // until then, rows have no gaps
      for (int died = 0; died < 30; ++died) {
        const auto row = static_cast<std::uint32_t>(random() % next);
        index.remove(row);
        plain.remove(row);
        if (died % 3 == 0) {
          add(row);
        }
      }
    }
    if (step % 5 == 4) {
      index.seal();
    }
    for (const std::uint32_t one_of : {2U, 12U, 40U, 110U, 700U}) {
      std::vector<std::uint8_t> bits(next / 8 + 1);
      for (std::uint32_t row = 0; row < next; ++row) {
        if (random() % one_of == 0) {
          bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | 1U << row % 8);
        }
      }
      check(bits);
    }
    check(written);
  }
}

TEST_CASE("search_impacts: terms without weight still find") {
  World world(make_bm25("atire", 1.2, 0.75, 0.0), 100, 10);
  for (std::uint32_t row = 0; row < 200; ++row) {
    const Document all = document_of(row, {3});  // idf ln(N / df) = 0
    world.index.add({&all, 1});
  }
  world.index.seal();
  CHECK(world.index.search(count_query_terms(std::vector<TermId>{3}), 10, AllowedRows())
            .hits.size() == 10);
}
