#include "lexical/query/clause_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "lexical/index/index.h"
#include "lexical/segments/document.h"

using namespace oneiros::lexical;
using oneiros::Occurrence;
using oneiros::TermId;

namespace {

constexpr std::uint32_t kRowEnd = 60;
constexpr TermId kTermEnd = 9;

using Text = std::vector<TermId>;  // a term at each position

Document document_of(std::uint32_t row, const Text& text) {
  std::vector<Occurrence> occurrences;
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    occurrences.push_back({.term = text[i], .position = i});
  }
  return count_terms(row, occurrences);
}

Clause word(Occur occur, std::vector<TermId> terms) {
  return {.occur = occur,
          .kind = ClauseKind::kWord,
          .fields = kAllFields,
          .terms = std::move(terms),
          .positions = {},
          .matches_nothing = false};
}

Clause phrase(Occur occur, std::vector<TermId> terms) {
  Clause clause = word(occur, std::move(terms));
  clause.kind = ClauseKind::kPhrase;
  for (std::uint32_t i = 0; i < clause.terms.size(); ++i) {
    clause.positions.push_back(i);
  }
  return clause;
}

Clause prefix(Occur occur, std::vector<TermId> terms) {
  Clause clause = word(occur, std::move(terms));
  clause.kind = ClauseKind::kPrefix;
  return clause;
}

bool matches(const Clause& clause, const Text& text) {
  const auto holds = [&](TermId term) { return std::ranges::find(text, term) != text.end(); };
  if (clause.kind == ClauseKind::kPhrase) {
    return !std::ranges::search(text, clause.terms).empty();
  }
  const bool is_any = clause.kind == ClauseKind::kPrefix || clause.occur == Occur::kShould;
  return is_any ? std::ranges::any_of(clause.terms, holds)
                : std::ranges::all_of(clause.terms, holds);
}

bool matches(const std::vector<Clause>& clauses, std::size_t minimum, const Text& text) {
  std::size_t should = 0;
  bool has_must = false;
  for (const Clause& clause : clauses) {
    const bool is_match = matches(clause, text);
    has_must = has_must || clause.occur == Occur::kMust;
    if (clause.occur != Occur::kShould && is_match != (clause.occur == Occur::kMust)) {
      return false;
    }
    should += clause.occur == Occur::kShould && is_match ? 1 : 0;
  }
  return should >= std::max<std::size_t>(minimum, has_must ? 0 : 1);
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  std::vector<TermId> terms(std::uint32_t least, std::uint32_t most) {
    std::vector<TermId> terms(least + below(most - least + 1));
    for (TermId& term : terms) {
      term = below(1 + below(kTermEnd));
    }
    return terms;
  }

  Clause clause() {
    const auto occur = static_cast<Occur>(below(3));
    switch (below(3)) {
      case 0:
        return word(occur, terms(1, 2));
      case 1:
        return phrase(occur, terms(1, 3));
      default:
        return prefix(occur, terms(2, 3));
    }
  }

 private:
  std::mt19937 random_;
};

std::vector<std::uint32_t> rows_of(const std::vector<Hit>& hits) {
  std::vector<std::uint32_t> rows;
  for (const Hit& hit : hits) {
    rows.push_back(hit.row);
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

TEST_CASE("search_clauses: the rows that a scan finds, in one segment or many") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Index index({}, {.documents = 1 + random.below(30), .postings = 300, .fan_in = 3});
    Index whole({});
    std::map<std::uint32_t, Text> there;
    for (int step = 0; step < 150; ++step) {
      const std::uint32_t row = random.below(kRowEnd);
      if (random.below(5) == 0) {
        CHECK(index.remove(row) == (there.erase(row) == 1));
      } else {
        there[row] = random.terms(0, 9);
        const Document document = document_of(row, there[row]);
        index.add({&document, 1});
      }
    }
    for (const auto& [row, text] : there) {
      const Document document = document_of(row, text);
      whole.add({&document, 1});
    }
    for (int asked = 0; asked < 20; ++asked) {
      std::vector<Clause> clauses;
      for (std::uint32_t count = 1 + random.below(3); count > 0; --count) {
        clauses.push_back(random.clause());
      }
      const ClauseQuery query{.clauses = count_clauses(clauses),
                              .minimum_should_match = random.below(3)};
      std::vector<std::uint32_t> want;
      for (const auto& [row, text] : there) {
        if (matches(clauses, query.minimum_should_match, text)) {
          want.push_back(row);
        }
      }
      const std::vector<Hit> hits = index.search(query, kRowEnd, {}).hits;
      CHECK(rows_of(hits) == want);
      const std::vector<Hit> same = whole.search(query, kRowEnd, {}).hits;
      CHECK(std::ranges::equal(hits, same, [](const Hit& left, const Hit& right) {
        return left.row == right.row && left.score == right.score;
      }));
    }
  }
}

TEST_CASE("search_clauses: what is there before and after a write, never between") {
  // Two rows swap a phrase in one batch: a search finds it once.
  const Text with{1, 2, 3};
  const Text without{2, 1, 3};
  Index index({}, {.documents = 64, .postings = 10'000, .fan_in = 2});
  const auto write = [&](bool is_swapped) {
    const std::vector<Document> documents{document_of(1, is_swapped ? with : without),
                                          document_of(2, is_swapped ? without : with)};
    index.add(documents);
  };
  write(false);
  const ClauseQuery query{
      .clauses = count_clauses({phrase(Occur::kMust, {1, 2}), prefix(Occur::kShould, {1, 3})}),
      .minimum_should_match = 1};
  const std::vector<Hit> first = index.search(query, 10, {}).hits;
  REQUIRE(first.size() == 1);
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    const auto read = [&] {
      while (!is_over) {
        const std::vector<Hit> hits = index.search(query, 10, {}).hits;
        wrong_count += hits.size() == 1 && hits[0].score == first[0].score ? 0U : 1U;
      }
    };
    const std::jthread one(read);
    const std::jthread two(read);
    for (int i = 0; i < 1'500; ++i) {
      write(i % 2 == 0);
    }
    is_over = true;
  }
  CHECK(wrong_count == 0);
}
