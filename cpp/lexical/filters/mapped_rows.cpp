// Translations are computed per segment and shared: segments that a previous set covers are copied
// with the differing rows toggled, others are computed by RowMapping.
#include "lexical/filters/mapped_rows.h"

#include <algorithm>

namespace oneiros::lexical {

std::shared_ptr<const MappedRows> MappedRows::of(UnmappedRows rows, const View& view) {
  const auto mapped = std::make_shared<MappedRows>();
  // Segments that the former set does not cover have no known difference.
  bool is_former =
      rows.former != nullptr && rows.former->segments_.size() == view.segments->sealed.size();
  for (const auto& segment : view.segments->sealed) {
    const Part* const former = rows.former ? rows.former->part(segment->serial()) : nullptr;
    const std::vector<DocumentNumber> changed = former == nullptr
                                                    ? std::vector<DocumentNumber>()
                                                    : segment->documents().find_each(rows.changed);
    if (former != nullptr && changed.empty()) {
      mapped->segments_.push_back(*former);
      continue;
    }
    is_former = false;
    mapped->segments_.push_back(
        {.serial = segment->serial(),
         .documents =
             former != nullptr
                 ? std::make_shared<const AllowedDocuments>(*former->documents, changed)
                 : std::make_shared<const AllowedDocuments>(rows.mapping.of(segment->documents())),
         .counts = std::make_shared<CountCache>()});
  }
  return is_former ? rows.former : mapped;
}

const MappedRows::Part* MappedRows::part(std::uint32_t serial) const {
  const auto found = std::ranges::find(segments_, serial, &Part::serial);
  return found == segments_.end() ? nullptr : &*found;
}

const AllowedDocuments* MappedRows::find(std::uint32_t serial) const {
  const Part* const found = part(serial);
  return found == nullptr ? nullptr : found->documents.get();
}

CountCache* MappedRows::counts(std::uint32_t serial) const {
  const Part* const found = part(serial);
  return found == nullptr ? nullptr : found->counts.get();
}

bool MappedRows::covers(const View& view) const {
  return std::ranges::all_of(view.segments->sealed, [this](const auto& segment) {
    return find(segment->serial()) != nullptr;
  });
}

std::size_t MappedRows::resident_bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : segments_) {
    bytes += part.documents->resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
