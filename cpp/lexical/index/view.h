// The documents a search sees: a consistent view, independent of concurrent writes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lexical/segments/mutable_segment.h"
#include "lexical/segments/sealed_segment.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// The segments of an index. Immutable: changes create a new list.
struct Segments {
  std::vector<std::shared_ptr<SealedSegment>> sealed;
  std::vector<std::shared_ptr<MutableSegment>> frozen;  // full, waiting to be sealed; oldest first
  std::shared_ptr<MutableSegment> growing;

  // Null if there is no such segment.
  Segment* find(std::uint32_t serial) const;
  // True if the segment is one of `sealed`.
  bool is_sealed(const Segment& segment) const;
  // The location of the row's document that lives in the epoch, ignoring documents of the growing
  // segment from `mutable_limit` on; none if there is no such document.
  Location locate(std::uint32_t row, DocumentNumber mutable_limit, Epoch epoch) const;
};

// Keeps its segments alive. Cheap to copy.
struct View {
  std::shared_ptr<const Segments> segments;
  DocumentNumber mutable_limit =
      0;  // later documents of segments->growing are not part of the view
  Epoch epoch = 0;

  // The part of the view in one segment.
  SegmentView of(const Segment& segment) const;
  // The parts of the view in all segments with documents.
  std::vector<SegmentView> searched() const;
  std::size_t sealed_document_count() const;  // including dead ones
  // True if a sealed segment has a document, possibly dead, of any of the rows. REQUIRES: ascending
  // rows.
  bool seals_any(std::span<const std::uint32_t> rows) const;

  // The location of the row's living document; none if it has none.
  Location locate(std::uint32_t row) const { return segments->locate(row, mutable_limit, epoch); }
  // The same for each row.
  std::vector<Location> locate(std::span<const std::uint32_t> rows) const;
};

}  // namespace oneiros::lexical
