// Scores of given documents term by term, with the operations and order of a search.
#include "lexical/search/document_scores.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexical/query/clause_search.h"
#include "threads/pause.h"

namespace oneiros::lexical {

LocatedDocuments documents_in(const Segment& segment, std::span<const Location> locations) {
  struct Placed {
    DocumentNumber document;
    std::uint32_t place;
  };
  std::vector<Placed> placed;
  placed.reserve(locations.size());
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].segment == segment.serial()) {
      placed.push_back({locations[i].document, static_cast<std::uint32_t>(i)});
    }
  }
  std::ranges::sort(placed, {}, &Placed::document);
  LocatedDocuments located;
  located.documents.reserve(placed.size());
  located.places.reserve(placed.size());
  for (const Placed& one : placed) {
    located.documents.push_back(one.document);
    located.places.push_back(one.place);
  }
  return located;
}

void score_documents(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                     std::span<const Location> locations, std::span<double> scores) {
  assert(locations.size() == scores.size());
  const Segment& segment = *view.segment;
  const LocatedDocuments located = documents_in(segment, locations);
  const auto& [documents, places] = located;
  if (documents.empty()) {
    return;
  }
  if (!query.clauses.empty()) {
    std::vector<DocumentNumber> within = documents;
    const auto repeats = std::ranges::unique(within);
    within.erase(repeats.begin(), repeats.end());
    const ScoredDocuments found = match_clauses(view, query, bm25, {}, &within);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto at = std::ranges::lower_bound(found.documents, documents[i]);
      if (at != found.documents.end() && *at == documents[i]) {
        scores[places[i]] += found.scores[static_cast<std::size_t>(at - found.documents.begin())];
      }
    }
    return;
  }
  const std::vector<std::uint8_t> all(scores.size(), 1);
  std::vector<std::uint32_t> held(documents.size());
  score_and_count(segment, query, bm25, located, all, scores, held);
}

void score_and_count(const Segment& segment, const WeighedQuery& query, const Bm25& bm25,
                     const LocatedDocuments& located, std::span<const std::uint8_t> is_wanted,
                     std::span<double> scores, std::span<std::uint32_t> held) {
  assert(is_wanted.size() == scores.size() && held.size() == located.documents.size());
  const DocumentLengths lengths = segment.documents().lengths();
  std::vector<std::uint32_t> frequencies(located.documents.size());
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, query.average_length);
    for (const auto& [term, weight] : query.terms) {
      pause_here();
      segment.look_up(term, located.documents, frequencies);
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        if (frequencies[i] == 0) {
          continue;
        }
        ++held[i];
        const std::size_t place = located.places[i];
        if (is_wanted[place] != 0) {
          scores[place] += weight * saturation(frequencies[i], lengths[located.documents[i]]);
        }
      }
    }
  });
}

}  // namespace oneiros::lexical
