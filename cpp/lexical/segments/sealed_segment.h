// An immutable segment, except for documents that die.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "lexical/segments/segment.h"

namespace oneiros::lexical {

class SealedSegment;

// The result of a merge.
struct MergedSegment {
  std::unique_ptr<SealedSegment> segment;
  // By source and number: the document's new number, kNoDocument if it was not visible.
  std::vector<std::vector<DocumentNumber>> renumbered;
};

// Documents are ordered by length and row. Only deaths change after construction; any number of
// threads may read.
class SealedSegment final : public Segment {
 public:
  // Merges the visible documents of the sources, ordered by length and then by row; impact codes
  // are optimised for `bm25`. Returns no segment if cancelled; a null `is_cancelled` means never.
  // Only reads the sources, also while documents die. Throws std::length_error beyond 4 GiB of
  // postings. REQUIRES: fewer than 2^32 documents, each of a different row; no document is added to
  // the sources.
  static MergedSegment merge(std::uint32_t serial, std::span<const SegmentView> sources,
                             const Bm25& bm25, const std::atomic<bool>* is_cancelled = nullptr,
                             std::size_t packed_from = DocumentTable::kPackedFrom);

  // Writes the sections `number` of a snapshot, with the documents dead at the epoch; and reads
  // them. Throws SnapshotDamaged unless every operation on the segment is safe.
  void write(SnapshotWriter& snapshot, std::uint32_t number, Epoch epoch) const;
  static std::unique_ptr<SealedSegment> read(const SnapshotReader& snapshot, std::uint32_t number,
                                             std::size_t term_count, std::size_t threads);

  DocumentNumber find(std::uint32_t row, DocumentNumber /*limit*/) const override {
    return documents().find(row);
  }
  std::vector<TermId> terms() const override;
  PostingList list(TermId term, RawPostings& scratch) const override;
  void look_up(TermId term, std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const override {
    postings_.find(term).look_up(postings_.cells(), documents, frequencies);
  }
  std::size_t list_size(TermId term) const override { return postings_.find(term).size(); }
  const SealedPostings* sealed_postings() const override { return &postings_; }
  std::size_t posting_count() const override { return postings_.size(); }
  std::size_t resident_bytes() const override {
    return documents().resident_bytes() + postings_.resident_bytes();
  }

 private:
  using Segment::Segment;

  SealedPostings postings_;
};

}  // namespace oneiros::lexical
