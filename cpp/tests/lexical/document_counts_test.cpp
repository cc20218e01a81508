// Statistics of some rows, and of several indexes: a search weighed by them gives the bits of an
// index that holds only these rows, or all of the indexes' documents.
#include "lexical/search/document_counts.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lexical/index/index.h"
#include "lexical/index/lexical_index.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros;
using namespace oneiros::lexical;
using lexical::testing::document_of;
using lexical::testing::PlainIndex;
using lexical::testing::same;
using oneiros::testing::rounds;

namespace {

using Bits = std::vector<std::uint8_t>;

void set(Bits& bits, std::uint32_t row) {
  bits.resize(std::max<std::size_t>(bits.size(), row / 8 + 1));
  bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | 1U << row % 8);
}

std::vector<TermId> draw_terms(std::mt19937& random, std::size_t most) {
  std::vector<TermId> terms(random() % most);
  for (TermId& term : terms) {
    // Frequent terms and rare ones.
    term = static_cast<TermId>(random() % (1 + random() % 400));
  }
  return terms;
}

QueryStatistics sum(const QueryStatistics& one, const QueryStatistics& other) {
  QueryStatistics whole = one;
  whole.counts.documents += other.counts.documents;
  whole.counts.length += other.counts.length;
  for (const auto& [term, df] : other.df) {
    whole.df[term] += df;
  }
  for (const auto& [prefix, df] : other.prefix_df) {
    whole.prefix_df[prefix] += df;
  }
  for (const auto& [prefix, terms] : other.prefix_terms) {
    std::vector<std::string>& all = whole.prefix_terms[prefix];
    all.insert(all.end(), terms.begin(), terms.end());
  }
  return whole;
}

// Cuts a final s, so that terms differ from surface forms.
std::shared_ptr<Analyzer> stemming() {
  return std::make_shared<Analyzer>(AnalyzerOptions{
      .stop_words = {}, .identifiers = true, .stem = [](const std::vector<std::string>& words) {
        std::vector<std::string> stems = words;
        for (std::string& stem : stems) {
          if (stem.size() > 2 && stem.back() == 's') {
            stem.pop_back();
          }
        }
        return stems;
      }});
}

}  // namespace

TEST_CASE("Statistics: a search by those of some rows is one in an index of these rows") {
  constexpr std::size_t kScopes = 5;
  for (const Bm25Variant variant : {Bm25Variant::kLucene, Bm25Variant::kRobertson,
                                    Bm25Variant::kBm25Plus, Bm25Variant::kBm25L}) {
    CAPTURE(static_cast<int>(variant));
    std::mt19937 random(static_cast<unsigned>(variant) + 1);
    const Bm25 bm25{.variant = variant, .delta = 0.5};
    Index index(bm25, {.documents = 600, .postings = 1U << 20U, .fan_in = 3});
    std::vector<PlainIndex> alone(kScopes, PlainIndex(bm25));
    std::vector<Bits> bits(kScopes);
    // The last scope is large, the first ones are small.
    const auto scope_of = [](std::uint32_t row) {
      return row % 200 == 0 ? 0U : row % 20 == 0 ? 1U : row % 5 == 0 ? 2U : row % 3 == 0 ? 3U : 4U;
    };
    std::uint32_t next_row = 0;
    for (int step = 0; step < rounds(400); ++step) {
      for (int i = 0; i < 20; ++i) {
        const bool is_new = next_row == 0 || random() % 3 != 0;
        const auto row = is_new ? next_row++ : static_cast<std::uint32_t>(random() % next_row);
        if (random() % 6 == 0) {
          index.remove(row);
          alone[scope_of(row)].remove(row);
          continue;
        }
        const std::vector<TermId> terms = draw_terms(random, 20);
        const Document document = document_of(row, terms);
        index.add({&document, 1});
        alone[scope_of(row)].add(row, terms);
        set(bits[scope_of(row)], row);  // of a deleted row, too: it has no document
      }
      if (random() % 40 == 0) {
        index.seal();
      }
      const std::vector<TermId> query = draw_terms(random, 6);
      const std::size_t scope = random() % kScopes;
      const AllowedRows rows{bits[scope]};
      const Found found =
          index.search(count_query_terms(query), 20, rows, {.rows = rows, .given = nullptr});
      if (alone[scope].size() != 0) {
        REQUIRE(same(found.hits, alone[scope].search(query, 20, {})));
      }
      // Again from what is remembered, and through a narrower filter.
      const Found again =
          index.search(count_query_terms(query), 20, rows, {.rows = rows, .given = nullptr});
      REQUIRE(same(found.hits, again.hits));
      Bits few = bits[scope];
      for (std::size_t i = 0; i < few.size(); i += 2) {
        few[i] = 0;
      }
      const AllowedRows allowed{few};
      if (alone[scope].size() != 0) {
        REQUIRE(same(
            index.search(count_query_terms(query), 20, allowed, {.rows = rows, .given = nullptr})
                .hits,
            alone[scope].search(query, 20, allowed)));
      }
    }
  }
}

TEST_CASE("Statistics: parts searched by their sum are one index, to the bit") {
  constexpr std::uint32_t kTexts = rounds(900U, 300U);
  for (const std::size_t part_count : {1U, 2U, 7U}) {
    for (const char* const variant : {"lucene", "robertson", "atire", "bm25plus", "bm25l"}) {
      CAPTURE(part_count);
      CAPTURE(variant);
      std::mt19937 random(static_cast<unsigned>(part_count));
      const Bm25 bm25 = make_bm25(variant, 1.1, 0.6, 0.5, 30.0, 2.0, 1.5);
      LexicalIndex whole(stemming(), bm25);
      std::vector<std::unique_ptr<LexicalIndex>> parts;
      for (std::size_t i = 0; i < part_count; ++i) {
        parts.push_back(std::make_unique<LexicalIndex>(stemming(), bm25));
      }
      const auto word = [&] {
        return std::string(1, static_cast<char>('a' + random() % 3)) +
               std::to_string(random() % (1 + random() % 40)) + (random() % 3 == 0 ? "s" : "");
      };
      const auto words = [&](std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
          text += word() + ' ';
        }
        return text;
      };
      for (std::uint32_t row = 0; row < kTexts; ++row) {
        const std::string text = words(random() % 30);
        const std::string title = words(random() % 4);
        const std::string tags = words(random() % 3);
        const IndexedText fields{.text = text, .title = title, .tags = tags};
        whole.add(row, fields);
        parts[row % part_count]->add(row, fields);
      }
      for (int i = 0; i < rounds(120); ++i) {
        QueryReading reading{.syntax = QuerySyntax::kQuery};
        std::string query;
        switch (i % 6) {
          case 0:
            reading.syntax = QuerySyntax::kPlain;
            query = words(4);
            break;
          case 1:
            query = "+" + word() + " -" + word() + " " + word();
            break;
          case 2:
            query = '"' + words(2) + "\" " + word();
            break;
          case 3:
            query = std::string(1, static_cast<char>('a' + random() % 3)) + "1* " + word();
            break;
          case 4:
            query = "title:" + word() + " " + word() + "* " + word() + "*";
            break;
          default:
            query = words(5);
            reading.minimum_should_match = 2;
        }
        CAPTURE(query);
        const auto gather = [&](const QueryStatistics* known) {
          QueryStatistics all;
          for (const auto& part : parts) {
            all = sum(all, part->statistics(query, reading, {.rows = {}, .given = known}));
          }
          return all;
        };
        const QueryStatistics first = gather(nullptr);
        const QueryStatistics all = gather(&first);  // prefixes: by what any part has seen
        const Found expected = whole.search(query, kTexts, {}, reading);
        std::vector<Hit> hits;
        for (const auto& part : parts) {
          const Found found = part->search(query, kTexts, {}, reading, {.rows = {}, .given = &all});
          hits.insert(hits.end(), found.hits.begin(), found.hits.end());
        }
        std::ranges::sort(hits, ranks_before);
        REQUIRE(same(hits, expected.hits));
      }
    }
  }
}

TEST_CASE("Statistics: given ones that lack a term of the index are refused") {
  LexicalIndex index(stemming(), {});
  index.add(0, "red fox");
  const QueryStatistics of_red = index.statistics("red");
  CHECK(of_red.counts.documents == 1);
  CHECK(of_red.df.at("red") == 1);
  const QueryWeighing by{.rows = {}, .given = &of_red};
  CHECK(index.search("red nowhere", 1, {}, {}, by).hits.size() == 1);
  CHECK_THROWS_AS(index.search("fox", 1, {}, {}, by), std::invalid_argument);
  CHECK_THROWS_AS(index.weigh("red fox", {}, by), std::invalid_argument);
}

TEST_CASE("Statistics: threads that count one scope while another writes agree at rest") {
  Index index({}, {.documents = 500, .postings = 1U << 20U, .fan_in = 3});
  Bits bits;
  for (std::uint32_t row = 0; row < 4'000; ++row) {
    const Document document = document_of(row, {row % 7, row % 3});
    index.add({&document, 1});
    if (row % 2 == 0) {
      set(bits, row);
    }
  }
  index.seal();
  const AllowedRows rows{bits};
  const std::vector<QueryTerm> query = count_query_terms(std::vector<TermId>{1, 2, 5});
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int n = 0; n < 300; ++n) {
        const TermStatistics counted = index.statistics(query, {.rows = rows, .given = nullptr});
        CHECK(counted.counts.documents <= 2'000);
        CHECK(counted.df.at(1) <= counted.counts.documents);
      }
    });
  }
  for (std::uint32_t row = 0; row < 2'000; row += 2) {
    index.remove(row);
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  const TermStatistics counted = index.statistics(query, {.rows = rows, .given = nullptr});
  CHECK(counted.counts.documents == 1'000);
  CHECK(counted.counts.length == 2'000);
}
