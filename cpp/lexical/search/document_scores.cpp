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

void score_documents(const SegmentView& view, const WeighedQuery& query, const Bm25& bm25,
                     std::span<const Location> locations, std::span<double> scores) {
  assert(locations.size() == scores.size());
  const Segment& segment = *view.segment;
  std::vector<DocumentNumber> documents;  // the documents in this segment
  std::vector<std::size_t> places;        // their places in `locations`
  for (std::size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].segment == segment.serial()) {
      documents.push_back(locations[i].document);
      places.push_back(i);
    }
  }
  if (documents.empty()) {
    return;
  }
  if (!query.clauses.empty()) {
    std::vector<DocumentNumber> within = documents;
    std::ranges::sort(within);
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
  const DocumentLengths lengths = segment.documents().lengths();
  std::vector<std::uint32_t> frequencies(documents.size());
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, query.average_length);
    for (const auto& [term, weight] : query.terms) {
      pause_here();
      segment.look_up(term, documents, frequencies);
      for (std::size_t i = 0; i < documents.size(); ++i) {
        if (frequencies[i] != 0) {
          scores[places[i]] += weight * saturation(frequencies[i], lengths[documents[i]]);
        }
      }
    }
  });
}

}  // namespace oneiros::lexical
