// What a search sees: the documents of one moment, whatever is written meanwhile.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lexical/segments/mutable_segment.h"
#include "lexical/segments/sealed_segment.h"
#include "lexical/segments/segment.h"

namespace oneiros::lexical {

// The parts of an index. A list is never changed, only followed by another.
struct Segments {
  std::vector<std::shared_ptr<SealedSegment>> sealed;
  std::vector<std::shared_ptr<MutableSegment>> frozen;  // full, to be sealed; oldest first
  std::shared_ptr<MutableSegment> growing;

  // Null if there is none of that serial.
  Segment* find(std::uint32_t serial) const;
  bool is_sealed(const Segment& segment) const;
  // Where the row's document stands that lives in the epoch, those of the growing segment from
  // `mutable_limit` on left out; nowhere if there is none.
  Location locate(std::uint32_t row, DocumentNumber mutable_limit, Epoch epoch) const;
};

// Keeps its segments alive.
struct View {
  std::shared_ptr<const Segments> segments;
  DocumentNumber mutable_limit = 0;  // documents of segments->growing from here on came later
  Epoch epoch = 0;

  SegmentView of(const Segment& segment) const;
  std::vector<SegmentView> searched() const;
  std::size_t sealed_document_count() const;  // the dead included
  // Whether a sealed segment has a document, perhaps a dead one, of any of the rows, which ascend.
  bool seals_any(std::span<const std::uint32_t> rows) const;

  // Where the row's document stands; nowhere if it has none, or has none any more.
  Location locate(std::uint32_t row) const { return segments->locate(row, mutable_limit, epoch); }
};

}  // namespace oneiros::lexical
