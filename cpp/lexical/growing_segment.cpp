#include "lexical/growing_segment.h"

namespace oneiros::lexical {

DocumentNumber GrowingSegment::append(const Document& document) {
  // The document first: a posting must never carry a number that is given out again.
  const DocumentNumber number = documents().append(document);
  for (const auto& [term, frequency] : document.terms) {
    postings_.append(term, number, frequency);
  }
  return number;
}

}  // namespace oneiros::lexical
