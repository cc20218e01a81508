#include "lexical/mapped_rows.h"

#include <algorithm>

#include "lexical/allowed_rows.h"
#include "lexical/set_bits.h"

namespace oneiros::lexical {

namespace {

// As many documents are looked through in the time that one row takes to be looked up.
constexpr std::size_t kRowCost = 16;

}  // namespace

MappedRows::MappedRows(std::span<const std::uint8_t> rows, const View& view) {
  for (const auto& segment : view.segments->sealed) {
    segments_.emplace_back(segment->serial(), AllowedDocuments(segment->documents().size()));
  }
  if (count_bits(rows) * kRowCost > view.sealed_document_count()) {
    look_through_documents(rows, view);
  } else {
    look_rows_up(rows, view);
  }
  for (auto& [serial, documents] : segments_) {
    documents.settle();
  }
}

void MappedRows::look_through_documents(std::span<const std::uint8_t> rows, const View& view) {
  const AllowedRows allowed(rows);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const DocumentTable& documents = view.segments->sealed[i]->documents();
    const DocumentRows held = documents.rows();
    for (DocumentNumber document = 0; document < documents.size(); ++document) {
      if (allowed.contains(held[document])) {
        segments_[i].second.allow(document);
      }
    }
  }
}

void MappedRows::look_rows_up(std::span<const std::uint8_t> rows, const View& view) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 29U;  // a row has 32 bits
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const DocumentTable& documents = view.segments->sealed[i]->documents();
    for_each_bit(rows.first(std::min(rows.size(), kMostBytes)), [&](std::size_t row) {
      const DocumentNumber document = documents.find(static_cast<std::uint32_t>(row));
      if (document != kNoDocument) {
        segments_[i].second.allow(document);
      }
    });
  }
}

const AllowedDocuments* MappedRows::find(std::uint32_t serial) const {
  const auto found =
      std::ranges::find(segments_, serial, [](const auto& one) { return one.first; });
  return found == segments_.end() ? nullptr : &found->second;
}

bool MappedRows::covers(const View& view) const {
  return std::ranges::all_of(view.segments->sealed, [this](const auto& segment) {
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
