// The growing segment, which takes new documents.
#pragma once

#include "lexical/postings/mutable_postings.h"
#include "lexical/segments/mutable_rows.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// Documents are visible to readers up to the limit of their view. One thread writes, any number of
// threads may read.
class MutableSegment final : public Segment {
 public:
  using Segment::Segment;

  // Adds a document that replaces the one at `former` and returns its number. May throw; no visible
  // change then.
  DocumentNumber append(const Document& document, Location former);

  // The location of the row's previous document when this one was added. REQUIRES: number <
  // documents().size().
  Location former(DocumentNumber number) const { return formers_.elements()[number]; }

  DocumentNumber find(std::uint32_t row, DocumentNumber limit) const override {
    return rows_.find(row, limit);
  }
  std::vector<TermId> terms() const override;
  PostingList list(TermId term, RawPostings& /*scratch*/) const override {
    return postings_.find(term);
  }
  void look_up(TermId term, std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const override {
    postings_.find(term).look_up(documents, frequencies);
  }
  std::size_t list_size(TermId term) const override { return postings_.find(term).size(); }
  std::size_t posting_count() const override { return postings_.size(); }
  std::size_t resident_bytes() const override {
    return documents().resident_bytes() + postings_.resident_bytes() + rows_.resident_bytes() +
           formers_.resident_bytes();
  }

 private:
  MutablePostings postings_;
  MutableRows rows_;
  MutableArray<Location> formers_;
};

}  // namespace oneiros::lexical
