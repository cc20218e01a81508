#include "lexical/mapped_rows.h"

#include <algorithm>
#include <optional>

#include "lexical/allowed_rows.h"
#include "lexical/set_bits.h"

namespace oneiros::lexical {

namespace {

// As many documents are looked through in the time that one row takes to be looked up.
constexpr std::size_t kRowCost = 4;

// Goes by rows or by documents, whichever are fewer.
class Mapping {
 public:
  Mapping(const RowBits& rows, const View& view)
      : allowed_(rows.bits), are_few_(rows.count * kRowCost <= view.sealed_document_count()) {
    if (are_few_) {
      listed_ = list_bits(rows.bits, rows.count);
    }
  }

  AllowedDocuments of(const DocumentTable& documents) const {
    if (are_few_) {
      return {documents.size(), documents.find_each(listed_)};
    }
    const DocumentRows held = documents.rows();
    return {documents.size(), [&](DocumentNumber one) { return allowed_.contains(held[one]); }};
  }

 private:
  const AllowedRows allowed_;
  const bool are_few_;
  std::vector<std::uint32_t> listed_;  // if they are few
};

}  // namespace

std::shared_ptr<const MappedRows> MappedRows::of(const RowBits& rows, const View& view) {
  std::optional<Mapping> mapping;
  const auto mapped = std::make_shared<MappedRows>();
  bool is_former = rows.former != nullptr;
  for (const auto& segment : view.segments->sealed) {
    Documents documents = rows.former ? rows.former->share(segment->serial()) : nullptr;
    if (documents) {
      const std::vector<DocumentNumber> changed = segment->documents().find_each(rows.changed);
      if (!changed.empty()) {
        documents = std::make_shared<const AllowedDocuments>(*documents, changed);
        is_former = false;
      }
    } else {
      if (!mapping) {
        mapping.emplace(rows, view);
      }
      documents = std::make_shared<const AllowedDocuments>(mapping->of(segment->documents()));
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
