#include "lexical/postings/sealed_postings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "lexical/search/impact_lists.h"

using namespace oneiros::lexical;
using oneiros::TermId;

namespace {

constexpr std::array kVariants{"lucene", "robertson", "atire", "bm25plus", "bm25l"};

struct Pair {
  std::uint32_t frequency;
  std::uint32_t length;
};

// Frequencies and lengths as texts have them: small ones mostly, now and then a huge one.
std::vector<Pair> random_pairs(std::mt19937& random, std::size_t count) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t frequency =
        1U + static_cast<std::uint32_t>(random()) % (1U << random() % 9);
    const std::uint32_t more = static_cast<std::uint32_t>(random()) % (1U << random() % 16);
    pairs.push_back({.frequency = frequency, .length = frequency + more});
  }
  pairs.push_back({.frequency = std::numeric_limits<std::uint32_t>::max(),
                   .length = std::numeric_limits<std::uint32_t>::max()});
  return pairs;
}

double earned(const Bm25& bm25, double average, const Pair& pair) {
  double value = 0;
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    value = Saturation<Variant>(bm25, average)(pair.frequency, pair.length);
  });
  return value;
}

}  // namespace

TEST_CASE("ImpactEncoder: up to 256 pairs have a cell each") {
  ImpactEncoder encoder;
  for (std::uint32_t frequency = 1; frequency <= 8; ++frequency) {
    for (std::uint32_t length = 8; length < 40; ++length) {
      encoder.add(frequency, length);
    }
  }
  const ImpactCells cells = encoder.assign(make_bm25("lucene", 1.2, 0.75, 0), 20.0);
  CHECK(cells.cells().size() == 256);
  for (std::uint32_t frequency = 1; frequency <= 8; ++frequency) {
    for (std::uint32_t length = 8; length < 40; ++length) {
      const ImpactCell& cell = cells[encoder.encode(frequency, length)];
      CHECK(cell.lowest_frequency == frequency);
      CHECK(cell.tells_frequency());
      CHECK(cell.shortest == length);
      CHECK(cell.longest == length);
    }
  }
}

TEST_CASE(
    "ImpactCells: at any average length, no pair earns more than its cell says, nor much less") {
  std::mt19937 random(7);
  for (const char* const variant : kVariants) {
    const Bm25 bm25 = make_bm25(variant, 0.9, 0.4, 1.0);
    for (const std::size_t count : {1U, 200U, 20'000U}) {
      const std::vector<Pair> pairs = random_pairs(random, count);
      ImpactEncoder encoder;
      for (const Pair& pair : pairs) {
        encoder.add(pair.frequency, pair.length);
      }
      const ImpactCells cells = encoder.assign(bm25, 100.0);
      CHECK(cells.cells().size() <= ImpactCells::kCount);
      for (const double average : {0.01, 1.0, 100.0, 1e6}) {
        std::vector<double> most(cells.cells().size());
        std::vector<double> least(cells.cells().size());
        const double tightness = cells.bound(bm25, average, most, least);
        CHECK(tightness > 0.0);
        bool holds = true;
        for (const Pair& pair : pairs) {
          const std::uint8_t code = encoder.encode(pair.frequency, pair.length);
          const double value = earned(bm25, average, pair);
          holds = holds && value <= most[code] && value >= least[code] &&
                  least[code] >= tightness * most[code];
          const ImpactCell& cell = cells[code];
          holds = holds && cell.lowest_frequency <= pair.frequency &&
                  pair.frequency <= cell.highest_frequency && cell.shortest <= pair.length &&
                  pair.length <= cell.longest;
        }
        CHECK(holds);
      }
    }
  }
}

TEST_CASE("ImpactCells: the codes by their longest documents") {
  const ImpactCells cells({{.longest = 5}, {.longest = 9}, {.longest = 5}, {.longest = 1}});
  CHECK(std::vector<int>(cells.longest_first().begin(), cells.longest_first().end()) ==
        std::vector<int>{1, 0, 2, 3});
}

TEST_CASE("SealedPostings: every posting comes back, in lists of all sizes and densities") {
  std::mt19937 random(3);
  struct List {
    TermId term;
    std::vector<DocumentNumber> documents;
    std::vector<std::uint32_t> frequencies;
  };
  constexpr std::size_t kDocuments = 300'000;
  std::vector<std::uint32_t> lengths(kDocuments);
  for (std::uint32_t& length : lengths) {
    length = 1 + static_cast<std::uint32_t>(random() % 900);
  }
  std::vector<List> lists;
  TermId term = 0;
  ImpactEncoder encoder;
  for (const std::size_t size : {1U, 2U, 3U, 127U, 128U, 129U, 256U, 257U, 1'000U, 40'000U}) {
    for (const std::size_t spread : {std::size_t{1}, kDocuments / size}) {
      List& list = lists.emplace_back();
      list.term = term += 1 + static_cast<TermId>(random() % 3'000);
      DocumentNumber document = static_cast<DocumentNumber>(random() % spread);
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t frequency = random() % 20 == 0
                                            ? static_cast<std::uint32_t>(random()) | 1U
                                            : 1 + static_cast<std::uint32_t>(random() % 40);
        list.documents.push_back(document);
        list.frequencies.push_back(frequency);
        encoder.add(frequency, lengths[document]);
        document += 1 + static_cast<DocumentNumber>(random() % spread);
        document =
            std::min<DocumentNumber>(document, kDocuments - static_cast<DocumentNumber>(size - i));
      }
    }
  }
  ImpactCells cells = encoder.assign(make_bm25("lucene", 1.2, 0.75, 0), 450.0);
  SealedPostingsBuilder builder(encoder, cells);
  for (const List& list : lists) {
    builder.add(list.term, list.documents, list.frequencies, lengths);
  }
  const SealedPostings postings = builder.take();
  for (const List& list : lists) {
    const PackedList found = postings.find(list.term);
    REQUIRE(found.size() == list.documents.size());
    std::vector<DocumentNumber> documents;
    std::vector<std::uint32_t> frequencies;
    found.for_each(postings.cells(), [&](DocumentNumber document, std::uint32_t frequency) {
      documents.push_back(document);
      frequencies.push_back(frequency);
    });
    CHECK(documents == list.documents);
    CHECK(frequencies == list.frequencies);

    std::vector<DocumentNumber> sought{0, 1, kDocuments - 1,
                                       std::numeric_limits<DocumentNumber>::max()};
    for (std::size_t i = 0; i < 200; ++i) {
      sought.push_back(list.documents[random() % list.documents.size()]);
      sought.push_back(static_cast<DocumentNumber>(random() % kDocuments));
    }
    std::vector<std::uint32_t> got(sought.size(), 99);
    found.look_up(postings.cells(), sought, got);
    for (std::size_t i = 0; i < sought.size(); ++i) {
      const auto at = std::ranges::lower_bound(list.documents, sought[i]);
      const bool is_there = at != list.documents.end() && *at == sought[i];
      CHECK(got[i] == (is_there
                           ? list.frequencies[static_cast<std::size_t>(at - list.documents.begin())]
                           : 0U));
    }

    std::ranges::sort(sought);
    std::vector<Candidate> candidates;
    for (const DocumentNumber document : sought) {
      candidates.push_back({.document = document, .score = 0});
    }
    std::size_t visits = 0;
    ImpactList searched;
    searched.postings = found;
    look_up(searched, candidates, 0,
            [&](std::size_t i, const PackedBlock& block, std::size_t place, bool is_there) {
              CHECK(i == visits++);
              const auto at = std::ranges::lower_bound(list.documents, sought[i]);
              REQUIRE(is_there == (at != list.documents.end() && *at == sought[i]));
              REQUIRE(place < block.size());
              if (is_there) {
                CHECK(block.frequency(place, postings.cells()) ==
                      list.frequencies[static_cast<std::size_t>(at - list.documents.begin())]);
              }
            });
    CHECK(visits == sought.size());
  }
  // As many as they say are as good as the code that the best of a list are known by.
  std::vector<double> most(cells.cells().size());
  std::vector<double> least(cells.cells().size());
  const Bm25 bm25 = make_bm25("lucene", 1.2, 0.75, 0);
  for (const double average : {20.0, 450.0, 5'000.0}) {
    cells.bound(bm25, average, most, least);
    for (const List& list : lists) {
      const PackedList found = postings.find(list.term);
      CHECK_FALSE(found.best_code(101));
      for (const std::size_t count : {1U, 10U, 11U, 100U}) {
        const std::optional<std::uint8_t> code = found.best_code(count);
        REQUIRE(code.has_value() == (found.size() > kBlockSize));
        if (code) {
          const double reached = *std::min_element(least.begin(), least.begin() + *code + 1);
          std::size_t reaching = 0;
          for (std::size_t i = 0; i < list.documents.size(); ++i) {
            reaching +=
                earned(bm25, average, {list.frequencies[i], lengths[list.documents[i]]}) >= reached
                    ? 1
                    : 0;
          }
          CHECK(reaching >= count);
        }
      }
    }
  }
  for (const TermId absent : {TermId{0}, term + 1, std::numeric_limits<TermId>::max()}) {
    CHECK(postings.find(absent).size() == 0);
  }
}

TEST_CASE("SealedPostings: without a list, nothing is found") {
  CHECK(SealedPostings().find(1).size() == 0);
  CHECK(SealedPostings().term_count() == 0);
}
