#include "lexical/index/lexical_index.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lexical/plain_index.h"

using namespace oneiros;
using lexical::AllowedRows;
using lexical::Found;
using lexical::Hit;
using lexical::testing::same;

namespace {

std::shared_ptr<Analyzer> simple() {
  return std::make_shared<Analyzer>(
      AnalyzerOptions{.stop_words = {}, .identifiers = false, .stem = {}});
}

std::vector<std::uint32_t> rows_of(const std::vector<Hit>& hits) {
  std::vector<std::uint32_t> rows;
  for (const Hit& hit : hits) {
    rows.push_back(hit.row);
  }
  return rows;
}

using Rows = std::vector<std::uint32_t>;
using Texts = std::vector<std::string_view>;
using IndexedTexts = std::vector<IndexedText>;

}  // namespace

TEST_CASE("LexicalIndex: texts are found by their words until they go") {
  LexicalIndex index(simple(), {});
  CHECK(index.add(4, "red fox") == 0);
  CHECK(index.add(2, "Red DOG") == 0);
  CHECK(index.add(3, "") == 0);
  CHECK(rows_of(index.search("red", 10, {}).hits) == Rows{2, 4});
  CHECK(rows_of(index.search("dog fox red", 1, {}).hits) == Rows{2});
  index.add(2, "blue dog");
  CHECK(rows_of(index.search("red", 10, {}).hits) == Rows{4});
  CHECK(index.remove(4));
  CHECK_FALSE(index.remove(4));
  CHECK(index.search("red", 10, {}).hits.empty());
  CHECK(index.document_count() == 2);
  CHECK(index.contains(3));
  CHECK(index.resident_bytes() > 0);
}

TEST_CASE("LexicalIndex: a call that ends early leaves whole batches") {
  LexicalIndex index(simple(), {});
  const std::vector<IndexedText> texts(1000, {.text = "ant"});
  Rows rows(texts.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    rows[row] = row;
  }
  int pauses = 0;
  const auto interrupt = [&] {
    if (++pauses == 2) {
      throw std::runtime_error("interrupted");
    }
  };
  CHECK_THROWS_WITH(index.add_many(rows, texts, interrupt), "interrupted");
  const std::size_t count = index.document_count();
  CHECK(count > 0);
  CHECK(count < texts.size());
  CHECK(index.contains(static_cast<std::uint32_t>(count - 1)));
  CHECK_FALSE(index.contains(static_cast<std::uint32_t>(count)));
  CHECK(index.search("ant", 2000, {}).hits.size() == count);
  CHECK(index.add_many(rows, texts) == 0);
  CHECK(index.document_count() == 1000);
}

TEST_CASE("LexicalIndex: texts analyzed beforehand are found as others, from when they are added") {
  const IndexedTexts texts = {{.text = "red fox", .title = "ants", .tags = "one two\nthree"},
                              {.text = "blue dog"},
                              {.text = ""},
                              {.text = "red red dog", .tags = "two"}};
  const Rows rows = {7, 2, 3, 5};
  LexicalIndex plain(simple(), {});
  CHECK(plain.add_many(rows, texts) == 0);
  LexicalIndex index(simple(), {});
  AnalyzedTexts analyzed = index.analyze_many(texts);
  CHECK(analyzed.documents.size() == 4);
  CHECK(index.document_count() == 0);
  CHECK(index.search("red", 10, {}).hits.empty());
  CHECK_THROWS_AS(index.add_analyzed(Rows{1}, analyzed), std::invalid_argument);
  CHECK(index.document_count() == 0);
  CHECK(index.add_analyzed(rows, std::move(analyzed)) == 0);
  CHECK(index.document_count() == 4);
  for (const char* query : {"red", "dog two", "ants", "three"}) {
    CHECK(same(index.search(query, 10, {}).hits, plain.search(query, 10, {}).hits));
  }
  const std::string large(LexicalIndex::kMaxTextBytes + 1, 'a');
  CHECK_THROWS_AS((void)index.analyze_many(IndexedTexts{{.text = large}}), std::invalid_argument);
}

TEST_CASE("LexicalIndex: a search may be ended at any pause, and does no harm") {
  LexicalIndex index(simple(), {});
  const char* const words[] = {"ant", "bee", "cat", "dog", "ants", "beet"};
  for (std::uint32_t row = 0; row < 600; ++row) {
    std::string text;
    for (std::uint32_t i = 0; i < 12; ++i) {
      text += std::string(words[(row * 7 + i * i * (1 + row % 5)) % 6]) + " ";
    }
    index.add(row, text);
    if (row == 500) {
      index.seal();  // some of them stay in the growing segment
    }
  }
  const QueryReading reading{.syntax = lexical::QuerySyntax::kQuery};
  const Texts queries{"ant bee", R"("ant bee" "bee cat dog" -"dog ant")",
                      "+an* bee* -text:an* title:an* text:bee*"};
  for (const std::string_view query : queries) {
    CAPTURE(query);
    const Found whole = index.search(query, 1000, {}, reading);
    int most = 0;  // pauses
    for (int last = 1; most == 0; ++last) {
      int pauses = 0;
      const Interrupt pause = [&] {
        if (++pauses == last) {
          throw std::runtime_error("interrupted");
        }
      };
      try {
        const PauseScope scope(pause);
        const Found found = index.search(query, 1000, {}, reading);
        CHECK(same(found.hits, whole.hits));
        most = last;
      } catch (const std::runtime_error&) {
        CHECK(same(index.search(query, 1000, {}, reading).hits, whole.hits));
      }
    }
    CHECK(most > 2);
  }
  for (const std::size_t threads : {1, 3}) {
    int pauses = 0;
    const Interrupt pause = [&] {
      if (++pauses == 3) {
        throw std::runtime_error("interrupted");
      }
    };
    // So many that the thread that asks has some to answer itself, however fast the others are.
    const Texts many(20'000, queries[1]);
    CHECK_THROWS_WITH(index.search_many(many, 10, {}, threads, reading, {}, pause), "interrupted");
    CHECK(pauses == 3);
  }
}

TEST_CASE("LexicalIndex: limits and wrong arguments change nothing") {
  CHECK_THROWS_AS(LexicalIndex(nullptr, {}), std::invalid_argument);
  LexicalIndex index(simple(), {});
  index.add(0, "ant");
  const std::string large(LexicalIndex::kMaxTextBytes + 1, 'a');
  CHECK_THROWS_WITH(index.add(1, large),
                    "text: must be at most 33554432 bytes of UTF-8, got 33554433");
  CHECK_THROWS_AS(index.add_many(Rows{1, 2}, IndexedTexts{{"bee"}, {large}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(index.add_many(Rows{1}, IndexedTexts{{"bee"}, {"cat"}}), std::invalid_argument);
  CHECK(index.document_count() == 1);
  const std::string long_query(LexicalIndex::kMaxQueryBytes + 1, ' ');
  CHECK_THROWS_AS(index.search(long_query, 1, {}), QueryTooLarge);
  std::string many = "ant ";
  for (int i = 0; i < 1023; ++i) {
    many += "w" + std::to_string(i) + " ";
  }
  CHECK(index.search(many + many, 1, {}).hits.size() == 1);
  CHECK_THROWS_AS(index.search(many + "bee", 1, {}), QueryTooLarge);
  CHECK_THROWS_AS(index.search_many(Texts{"ant", long_query}, 1, {}, 2), QueryTooLarge);
  CHECK_THROWS_AS(index.search_many(Texts{"ant"}, 1, {}, 0), std::invalid_argument);
}

TEST_CASE("LexicalIndex: any number of threads gives the same answers") {
  LexicalIndex index(simple(), {}, {.documents = 50, .postings = 10'000, .fan_in = 3});
  std::vector<std::string> queries;
  for (std::uint32_t row = 0; row < 300; ++row) {
    index.add(row, "w" + std::to_string(row % 7) + " w" + std::to_string(row % 11) + " x");
    queries.push_back("x w" + std::to_string(row % 13));
  }
  const std::vector<std::uint8_t> bits(30, 0xA5);
  const Texts views(queries.begin(), queries.end());
  const auto one = index.search_many(views, 5, AllowedRows(bits), 1);
  for (const std::size_t threads : {2U, 3U, 8U, 1000U}) {
    const auto many = index.search_many(views, 5, AllowedRows(bits), threads);
    CHECK(std::ranges::equal(one, many, same, &Found::hits, &Found::hits));
  }
  CHECK(same(one[7].hits, index.search(views[7], 5, AllowedRows(bits)).hits));
  CHECK(one[7].hits.size() == 5);
  CHECK(index.search_many({}, 5, {}, 4).empty());
}

TEST_CASE("LexicalIndex: writers and readers side by side") {
  LexicalIndex index(simple(), {}, {.documents = 32, .postings = 10'000, .fan_in = 2});
  std::atomic<bool> is_done = false;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back([&] {
        while (!is_done.load()) {
          const auto many = index.search_many(Texts{"ant w3", "bee"}, 50, {}, 2);
          wrong_count += many.size() == 2 ? 0U : 1U;
          for (const Hit& hit : many[0].hits) {
            wrong_count += hit.row < 400 && hit.score > 0 ? 0U : 1U;
          }
        }
      });
    }
    std::vector<std::jthread> writers;
    for (std::uint32_t writer = 0; writer < 2; ++writer) {
      writers.emplace_back([&, writer] {
        for (std::uint32_t i = 0; i < 200; ++i) {
          const std::uint32_t row = 2 * i + writer;
          const std::string text = "ant w" + std::to_string(i % 5) + " n" + std::to_string(row);
          index.add(row, text);
          if (i % 4 == 3) {
            index.remove(row);
          }
        }
      });
    }
    writers.clear();
    is_done = true;
  }
  CHECK(wrong_count == 0);
  CHECK(index.document_count() == 300);
  CHECK(index.search("ant", 1000, {}).hits.size() == 300);
}

TEST_CASE("LexicalIndex: words one slip away stand for those that no text has") {
  LexicalIndex index(std::make_shared<Analyzer>(AnalyzerOptions{
                         .stop_words = {}, .identifiers = false, .stem = {}, .function_words = {}}),
                     {});
  index.add(0, "boat kitten");
  index.add(1, "bolt");
  index.add(2, "bolt");
  index.add(3, "gone harbour");
  index.remove(3);
  const lexical::WordShares shares{.typos = 0.75};
  const auto weigh = [&](std::string_view query, const QueryWeighing& by) {
    return index.weigh(query, {}, by);
  };
  const auto read = [](const lexical::WeighedQuery& weighed) {
    std::string words;
    for (const lexical::Typo& typo : weighed.typos) {
      words.append(typo.word).append(">").append(typo.read_as).append(" ");
    }
    return words;
  };
  const QueryWeighing by{.rows = {}, .given = nullptr, .shares = shares};
  SUBCASE("the word in most texts, with its share; the rest is missing") {
    const lexical::WeighedQuery slip = weigh("blot kittn kittn", by);
    const lexical::WeighedQuery whole = weigh("bolt kitten kitten", by);
    CHECK(read(slip) == "blot>bolt kittn>kitten ");
    REQUIRE(slip.terms.size() == 2);
    CHECK(slip.terms[0].weight == 0.75 * whole.terms[0].weight);
    CHECK(slip.terms[1].weight == 0.75 * whole.terms[1].weight);
    CHECK(slip.missing_count == 0.5);
    CHECK(read(weigh("boot", by)) == "boot>bolt ");  // and boat in one text
  }
  SUBCASE("none for a word that is in a text, or whose nearest is asked for, or that was removed") {
    CHECK(read(weigh("boat bolt", by)).empty());
    CHECK(read(weigh("blot bolt", by)).empty());
    CHECK(read(weigh("harbuor", by)).empty());
    CHECK(read(weigh("harbour", by)).empty());
    CHECK(weigh("harbour", by).missing_count == 1.0);
  }
  SUBCASE("only by the shares, and in plain syntax") {
    CHECK(read(weigh("blot", {})).empty());
    const QueryReading operators{.syntax = lexical::QuerySyntax::kQuery};
    CHECK(read(index.weigh("blot", operators, by)).empty());
  }
  SUBCASE("by the counted rows") {
    const std::vector<std::uint8_t> first = {0b0001};
    const QueryWeighing own{
        .rows = lexical::AllowedRows(first), .given = nullptr, .shares = shares};
    CHECK(read(weigh("boot boit", own)) == "boot>boat boit>boat ");
    CHECK(weigh("boot boit", own).terms.size() == 1);
  }
  SUBCASE("by given statistics") {
    const QueryStatistics counted = index.statistics("boot", {}, by);
    CHECK(counted.df == decltype(counted.df){{"boat", 1}, {"bolt", 2}});
    CHECK(index.statistics("boot", {}, {}).df.empty());
    QueryStatistics other = counted;
    other.df["boat"] = 3;
    CHECK(read(weigh("boot", {.rows = {}, .given = &other, .shares = shares})) == "boot>boat ");
    other.df["boot"] = 1;
    CHECK(read(weigh("boot", {.rows = {}, .given = &other, .shares = shares})).empty());
  }
  SUBCASE("pairs are of what is searched") {
    const lexical::WeighedQuery slip = weigh("boaat kittn", by);
    CHECK(index.pairs("boaat kittn", slip).pairs.size() == 1);
    CHECK(index.pairs("boaat kittn", weigh("boaat kittn", {})).pairs.empty());
  }
}

TEST_CASE("LexicalIndex: words of a query weigh by their shares, known or not") {
  LexicalIndex index(
      std::make_shared<Analyzer>(AnalyzerOptions{
          .stop_words = {}, .identifiers = false, .stem = {}, .function_words = {"what"}}),
      {});
  index.add(0, "what");
  index.add(1, "fox");
  const auto weights = [&](std::string_view query, const lexical::WordShares& shares) {
    const lexical::WeighedQuery weighed =
        index.weigh(query, {}, {.rows = {}, .given = nullptr, .shares = shares});
    std::vector<double> found;
    for (const lexical::WeightedTerm& term : weighed.terms) {
      found.push_back(term.weight / weighed.missing_weight);
    }
    found.push_back(weighed.missing_count);
    return found;
  };
  const auto missing = [&](std::string_view query, const lexical::WordShares& shares) {
    return lexical::missing_share(
        index.weigh(query, {}, {.rows = {}, .given = nullptr, .shares = shares}));
  };
  CHECK(missing("what fox cow cow", {}) == doctest::Approx(1.0 / 3.0));
  CHECK(missing("what fox cow", {.function_words = 0.5}) == doctest::Approx(1.0 / 2.5));
  CHECK(missing("cow", {}) == 1.0);
  CHECK(missing("fox", {}) == 0.0);
  CHECK(missing("", {}) == 1.0);
  using Weights = std::vector<double>;
  CHECK(weights("what fox cow cow", {}) == Weights{1.0, 1.0, 1.0});
  CHECK(weights("what fox cow cow", {.function_words = 0.5}) == Weights{0.5, 1.0, 1.0});
  // Places 1 to 5; a word that stands twice has the share of its first place.
  CHECK(weights("cow what fox fox hen", {.function_words = 0.5, .whole_length = 1})[0] ==
        doctest::Approx(0.5 / std::sqrt(2.0)));
  CHECK(weights("cow what fox fox hen", {.function_words = 0.5, .whole_length = 1})[1] ==
        doctest::Approx(2.0 / std::sqrt(3.0)));
  CHECK(weights("cow what fox fox hen", {.function_words = 0.5, .whole_length = 1})[2] ==
        doctest::Approx(1.0 + 1.0 / std::sqrt(5.0)));
}
