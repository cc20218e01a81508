// Pairs of query words that stand near each other in a text. Source: docs/systems/house.md H14.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/search/bm25.h"
#include "lexical/search/weighed_query.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Two different words of a query, in either order, and what a text gains that has them near each
// other.
struct WordPair {
  TermId first;
  TermId second;
  double weight;
};

// The pairs of a query in order of first appearance, and the sum of their weights.
struct WordPairs {
  std::vector<WordPair> pairs;
  double possible = 0.0;
};

// Pairs each word with the next two. A pair weighs as often as it stands in the query, each time
// the lesser idf of its words times the greatest saturation, so that it counts like a word. Words
// without a positive weight form no pair, nor does a word with itself or with one at its position.
// REQUIRES: `query` was weighed for these words.
WordPairs weigh_pairs(std::span<const WordOccurrence> words, const WeighedQuery& query,
                      const Bm25& bm25);

// For each location in this segment: adds the document's score, as score_documents(), where
// `is_wanted` is not 0, and writes the sum of the weights of the pairs that the document has at
// most `window` positions apart in one field. One look-up of the documents serves both. REQUIRES:
// as score_documents(); the query has no clauses; as many wanted as scores and pair scores. Cost:
// the look-ups, and the occurrences of documents with two words of the query.
void score_with_pairs(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                      const WordPairs& pairs, std::uint32_t window,
                      std::span<const Location> locations, std::span<const std::uint8_t> is_wanted,
                      std::span<double> scores, std::span<double> pair_scores);

}  // namespace oneiros::lexical
