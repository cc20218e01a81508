#include "lexical/mapped_rows.h"

#include <algorithm>

#include "lexical/allowed_rows.h"
#include "lexical/set_bits.h"

namespace oneiros::lexical {

namespace {

// As many documents are looked through in the time that one row takes to be looked up.
constexpr std::size_t kRowCost = 16;

}  // namespace

std::optional<MappedRows> MappedRows::of(std::span<const std::uint8_t> rows, const View& view,
                                         const RowMap& locations) {
  MappedRows mapped;
  for (const auto& segment : view.segments->sealed) {
    mapped.segments_.emplace_back(segment->serial(), AllowedDocuments(segment->documents().size()));
  }
  if (count_bits(rows) * kRowCost > view.sealed_document_count()) {
    mapped.look_through_documents(rows, view);
  } else if (!mapped.look_rows_up(rows, view, locations)) {
    return std::nullopt;
  }
  for (auto& [serial, documents] : mapped.segments_) {
    documents.settle();
  }
  return mapped;
}

void MappedRows::look_through_documents(std::span<const std::uint8_t> rows, const View& view) {
  const AllowedRows allowed(rows);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::span<const std::uint32_t> held = view.segments->sealed[i]->documents().rows();
    for (DocumentNumber document = 0; document < held.size(); ++document) {
      if (allowed.contains(held[document])) {
        segments_[i].second.allow(document);
      }
    }
  }
}

bool MappedRows::look_rows_up(std::span<const std::uint8_t> rows, const View& view,
                              const RowMap& locations) {
  is_by_row_ = true;
  epoch_ = view.epoch;
  const Segments& segments = *view.segments;
  constexpr std::size_t kMostBytes = std::size_t{1} << 29U;  // a row has 32 bits
  bool are_known = true;
  std::size_t last = 0;  // most rows are where the one before is
  for_each_bit(rows.first(std::min(rows.size(), kMostBytes)), [&](std::size_t bit) {
    const auto row = static_cast<std::uint32_t>(bit);
    Location at = locations.find(row);
    if (last >= segments_.size() || segments_[last].first != at.segment) {
      const std::optional<Location> known = view.locate(locations, row);
      are_known = are_known && known &&
                  !(segments.incoming && segments.incoming->serial() == known->segment);
      at = known.value_or(Location{});
      last = static_cast<std::size_t>(
          std::ranges::find(segments_, at.segment, [](const auto& one) { return one.first; }) -
          segments_.begin());
    }
    if (last < segments_.size()) {
      segments_[last].second.allow(at.document);
    }
  });
  return are_known;
}

const AllowedDocuments* MappedRows::find(std::uint32_t serial) const {
  const auto found =
      std::ranges::find(segments_, serial, [](const auto& one) { return one.first; });
  return found == segments_.end() ? nullptr : &found->second;
}

bool MappedRows::covers(const View& view) const {
  return (!is_by_row_ || view.epoch >= epoch_) &&
         std::ranges::all_of(view.segments->sealed, [this](const auto& segment) {
           return find(segment->serial()) != nullptr;
         });
}

std::size_t MappedRows::resident_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [serial, documents] : segments_) {
    bytes += documents.resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
