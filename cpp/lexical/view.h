// What a search sees: the documents of one moment, whatever is written meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lexical/growing_segment.h"
#include "lexical/row_map.h"
#include "lexical/sealed_segment.h"
#include "lexical/segment.h"

namespace oneiros::lexical {

// The parts of an index. A list is never changed, only followed by another.
struct Segments {
  std::vector<std::shared_ptr<SealedSegment>> sealed;
  std::vector<std::shared_ptr<GrowingSegment>> frozen;  // full, to be sealed; oldest first
  std::shared_ptr<GrowingSegment> growing;
  // Holds documents of others, whose place it will take, and is not searched yet; but rows lead to
  // it already.
  std::shared_ptr<SealedSegment> incoming;

  // Null if there is none of that serial.
  Segment* find(std::uint32_t serial) const;
  bool is_sealed(const Segment& segment) const;
};

// Keeps its segments alive.
struct View {
  std::shared_ptr<const Segments> segments;
  DocumentNumber growing_limit = 0;  // documents of segments->growing from here on came later
  Epoch epoch = 0;

  SegmentView of(const Segment& segment) const;
  std::vector<SegmentView> searched() const;
  std::size_t sealed_document_count() const;  // the dead included

  // Where the row's document stands, among the segments of this view; nowhere if it has none, or
  // has none any more. Nothing if the row has moved to a segment that this view does not know: a
  // newer one does.
  std::optional<Location> locate(const RowMap& rows, std::uint32_t row) const;
};

}  // namespace oneiros::lexical
