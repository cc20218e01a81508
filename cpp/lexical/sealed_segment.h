// A segment that changes no more, but for documents that die.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "lexical/segment.h"

namespace oneiros::lexical {

class SealedSegment final : public Segment {
 public:
  // The visible documents of the sources, source after source in their order. Null if it was
  // cancelled; a null `is_cancelled` means never. Reads the sources only, whatever dies meanwhile.
  // REQUIRES: fewer than 2^32 documents; nobody adds to the sources.
  static std::unique_ptr<SealedSegment> merge(std::uint32_t serial,
                                              std::span<const SegmentView> sources,
                                              const std::atomic<bool>* is_cancelled = nullptr);

  PostingList find(TermId term) const override { return postings_.find(term); }
  std::span<const TermId> terms() const override { return postings_.terms(); }
  PostingList list(std::size_t slot) const override { return postings_.list(slot); }
  std::size_t posting_count() const override { return postings_.size(); }
  std::size_t resident_bytes() const override {
    return documents().resident_bytes() + postings_.resident_bytes();
  }

 private:
  using Segment::Segment;

  SealedPostings postings_;
};

}  // namespace oneiros::lexical
