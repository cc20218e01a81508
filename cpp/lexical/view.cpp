#include "lexical/view.h"

#include <algorithm>

namespace oneiros::lexical {

Segment* Segments::find(std::uint32_t serial) const {
  const auto in = [serial](const auto& segments) -> Segment* {
    const auto found =
        std::ranges::find(segments, serial, [](const auto& s) { return s->serial(); });
    return found == segments.end() ? nullptr : found->get();
  };
  if (growing->serial() == serial) {
    return growing.get();
  }
  if (incoming && incoming->serial() == serial) {
    return incoming.get();
  }
  Segment* const found = in(sealed);
  return found != nullptr ? found : in(frozen);
}

bool Segments::is_sealed(const Segment& segment) const {
  return std::ranges::any_of(sealed, [&](const auto& one) { return one.get() == &segment; });
}

SegmentView View::of(const Segment& segment) const {
  const DocumentNumber limit = &segment == segments->growing.get()
                                   ? growing_limit
                                   : static_cast<DocumentNumber>(segment.documents().size());
  return {.segment = &segment, .document_limit = limit, .epoch = epoch};
}

std::vector<SegmentView> View::searched() const {
  std::vector<SegmentView> views;
  views.reserve(segments->sealed.size() + segments->frozen.size() + 1);
  for (const auto& segment : segments->sealed) {
    views.push_back(of(*segment));
  }
  for (const auto& segment : segments->frozen) {
    views.push_back(of(*segment));
  }
  views.push_back(of(*segments->growing));
  return views;
}

std::size_t View::sealed_document_count() const {
  std::size_t count = 0;
  for (const auto& segment : segments->sealed) {
    count += segment->documents().size();
  }
  return count;
}

std::optional<Location> View::locate(const RowMap& rows, std::uint32_t row) const {
  Location at = rows.find(row);
  while (!at.is_nowhere()) {
    const Segment* const segment = segments->find(at.segment);
    if (segment == nullptr) {
      return std::nullopt;
    }
    const SegmentView view = of(*segment);
    if (at.document < view.document_limit) {
      return view.is_visible(at.document) ? at : Location{};
    }
    at = segments->growing->former(at.document);  // written, but not yet for this view
  }
  return at;
}

}  // namespace oneiros::lexical
