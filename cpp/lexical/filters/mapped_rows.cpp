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
    Documents documents = rows.former ? rows.former->share(segment->serial()) : nullptr;
    if (documents) {
      const std::vector<DocumentNumber> changed = segment->documents().find_each(rows.changed);
      if (!changed.empty()) {
        documents = std::make_shared<const AllowedDocuments>(*documents, changed);
        is_former = false;
      }
    } else {
      documents = std::make_shared<const AllowedDocuments>(rows.mapping.of(segment->documents()));
      is_former = false;
    }
    mapped->segments_.emplace_back(segment->serial(), std::move(documents));
  }
  return is_former ? rows.former : mapped;
}

MappedRows::Documents MappedRows::share(std::uint32_t serial) const {
  const auto found =
      std::ranges::find(segments_, serial, [](const auto& one) { return one.first; });
  return found == segments_.end() ? nullptr : found->second;
}

const AllowedDocuments* MappedRows::find(std::uint32_t serial) const { return share(serial).get(); }

bool MappedRows::covers(const View& view) const {
  return std::ranges::all_of(view.segments->sealed, [this](const auto& segment) {
    return find(segment->serial()) != nullptr;
  });
}

std::size_t MappedRows::resident_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [serial, documents] : segments_) {
    bytes += documents->resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
