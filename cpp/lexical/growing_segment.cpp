#include "lexical/growing_segment.h"

namespace oneiros::lexical {

DocumentNumber GrowingSegment::append(const Document& document) {
  postings_.reserve(document.terms);
  const DocumentNumber number = documents().append(document);
  postings_.append(number, document.terms);
  return number;
}

}  // namespace oneiros::lexical
