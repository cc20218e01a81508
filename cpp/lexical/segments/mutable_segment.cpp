#include "lexical/segments/mutable_segment.h"

#include <algorithm>

namespace oneiros::lexical {

DocumentNumber MutableSegment::append(const Document& document, Location former) {
  postings_.reserve(document.terms);
  rows_.reserve();
  formers_.reserve_ahead(formers_.size() + 1);
  const DocumentNumber number = documents().append(document);
  postings_.append(number, document.terms);
  rows_.append(document.row);
  formers_.push_back(former);
  return number;
}

std::vector<TermId> MutableSegment::terms() const {
  const std::span<const TermId> terms = postings_.terms();
  std::vector<TermId> ascending(terms.begin(), terms.end());
  std::ranges::sort(ascending);
  return ascending;
}

}  // namespace oneiros::lexical
