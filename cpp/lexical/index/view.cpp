// Look-ups by row go through the growing, the frozen and the sealed segments in turn.
#include "lexical/index/view.h"

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
  Segment* const found = in(sealed);
  return found != nullptr ? found : in(frozen);
}

bool Segments::is_sealed(const Segment& segment) const {
  return std::ranges::any_of(sealed, [&](const auto& one) { return one.get() == &segment; });
}

Location Segments::locate(std::uint32_t row, DocumentNumber mutable_limit, Epoch epoch) const {
  // A row may have been in many segments, but lives in one.
  const auto in = [&](const Segment& segment, DocumentNumber limit) -> Location {
    const DocumentNumber document = segment.find(row, limit);
    return document != kNoDocument && segment.documents().is_alive_at(document, epoch)
               ? Location{.segment = segment.serial(), .document = document}
               : Location{};
  };
  Location found = in(*growing, mutable_limit);
  for (auto one = frozen.rbegin(); found.is_nowhere() && one != frozen.rend(); ++one) {
    found = in(**one, kNoDocument);
  }
  for (auto one = sealed.rbegin(); found.is_nowhere() && one != sealed.rend(); ++one) {
    found = in(**one, kNoDocument);
  }
  return found;
}

// Memory is prefetched for rows ahead, since each of them leads to another line of the cache.
std::vector<Location> View::locate(std::span<const std::uint32_t> rows) const {
  constexpr std::size_t kAhead = 16;
  const auto prefetch = [this](std::uint32_t row) {
    for (const auto& one : segments->sealed) {
      one->documents().prefetch(row);
    }
  };
  std::ranges::for_each(rows.first(std::min(rows.size(), kAhead)), prefetch);
  std::vector<Location> locations;
  locations.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      prefetch(rows[i + kAhead]);
    }
    locations.push_back(locate(rows[i]));
  }
  return locations;
}

SegmentView View::of(const Segment& segment) const {
  const DocumentNumber limit = &segment == segments->growing.get()
                                   ? mutable_limit
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

bool View::seals_any(std::span<const std::uint32_t> rows) const {
  return std::ranges::any_of(segments->sealed, [rows](const auto& segment) {
    return !segment->documents().find_each(rows).empty();
  });
}

}  // namespace oneiros::lexical
