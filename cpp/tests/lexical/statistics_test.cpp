#include "lexical/search/statistics.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>

using namespace oneiros::lexical;
using oneiros::TermId;

TEST_CASE("DocumentFrequencies: what a plain map of counts says, through 256 and back") {
  constexpr TermId kTerms = 2'000;
  constexpr std::uint32_t kMost = 70'000;
  DocumentFrequencies counts;
  CHECK(counts[5] == 0);
  CHECK_FALSE(counts.is_any(5));
  counts.reserve_terms(kTerms);
  std::map<TermId, std::uint32_t> plain;
  std::mt19937 random(3);
  for (int step = 0; step < 200'000; ++step) {
    // Most changes are of few terms, so that they pass 256 often.
    const auto term = static_cast<TermId>(random() % (random() % 8 == 0 ? kTerms : 40));
    const auto kind = random() % 64;
    if (counts.may_become_frequent(term, kMost)) {
      counts.reserve_frequent(counts.frequent_count() + 1);
    }
    if (kind == 0) {
      const auto added = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % kMost : 256);
      counts.add(term, added);
      plain[term] += added;
    } else if (kind % 2 == 0 || plain[term] == 0) {
      counts.increment(term);
      ++plain[term];
    } else {
      counts.decrement(term);
      --plain[term];
    }
    CHECK(counts[term] == plain[term]);
    CHECK(counts.is_any(term) == (plain[term] != 0));
  }
  for (const auto& [term, count] : plain) {
    CHECK(counts[term] == count);
  }
  CHECK(counts[kTerms + 1] == 0);
}

TEST_CASE("DocumentFrequencies: who says that a term stays below 256 is right") {
  DocumentFrequencies counts;
  counts.reserve_terms(1);
  for (std::uint32_t count = 0; count < 256; ++count) {
    CHECK(counts.may_become_frequent(0, 256 - count));
    CHECK_FALSE(counts.may_become_frequent(0, 255 - count));
    if (count == 255) {
      counts.reserve_frequent(1);
    }
    counts.increment(0);
  }
  CHECK_FALSE(counts.may_become_frequent(0, 1'000));  // it has its room
  CHECK(counts[0] == 256);
}
