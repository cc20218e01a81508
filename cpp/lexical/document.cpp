#include "lexical/document.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace oneiros::lexical {

Document count_terms(std::uint32_t row, std::span<const Occurrence> occurrences) {
  assert(occurrences.size() <= std::numeric_limits<std::uint32_t>::max());
  std::vector<TermId> sorted(occurrences.size());
  std::ranges::transform(occurrences, sorted.begin(), &Occurrence::term);
  std::ranges::sort(sorted);
  Document document{.row = row, .length = static_cast<std::uint32_t>(sorted.size()), .terms = {}};
  document.terms.reserve(sorted.size());
  for (const TermId term : sorted) {
    if (document.terms.empty() || document.terms.back().term != term) {
      document.terms.push_back({.term = term, .frequency = 0});
    }
    ++document.terms.back().frequency;
  }
  return document;
}

}  // namespace oneiros::lexical
