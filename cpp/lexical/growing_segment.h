// The segment that takes new documents.
#pragma once

#include "lexical/growing_postings.h"
#include "lexical/segment.h"

namespace oneiros::lexical {

class GrowingSegment final : public Segment {
 public:
  using Segment::Segment;

  // The number of the new document. If memory runs out, nothing that shows has changed.
  DocumentNumber append(const Document& document);

  PostingList find(TermId term) const override { return postings_.find(term); }
  std::span<const TermId> terms() const override { return postings_.terms(); }
  PostingList list(std::size_t slot) const override { return postings_.list(slot); }
  std::size_t posting_count() const override { return postings_.size(); }
  std::size_t resident_bytes() const override {
    return documents().resident_bytes() + postings_.resident_bytes();
  }

 private:
  GrowingPostings postings_;
};

}  // namespace oneiros::lexical
