// The filter of a search: the rows it may return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lexical/filters/allowed_documents.h"

namespace oneiros::lexical {

class MappedRows;

// A filter over rows: bit r % 8 of byte r / 8 is set if row r is allowed; rows beyond the bits are
// not. Does not own the bits, which must outlive the object. Without bits all rows are allowed.
// Cheap to copy.
class AllowedRows {
 public:
  AllowedRows() = default;
  explicit AllowedRows(std::span<const std::uint8_t> bits) : bits_(bits) {}
  // With more knowledge about the filter: its approximate share of all rows, from 0 to 1, and its
  // documents by segment (may be null, otherwise must outlive the object).
  AllowedRows(const AllowedRows& rows, double share, const MappedRows* mapped)
      : bits_(rows.bits_), share_(share), mapped_(mapped) {}

  bool are_all() const { return !bits_; }
  // REQUIRES: !are_all()
  std::span<const std::uint8_t> bits() const { return *bits_; }

  // Rows beyond the bits are not allowed. Constant time.
  bool contains(std::uint32_t row) const {
    if (!bits_) {
      return true;
    }
    const std::size_t byte = row / 8U;
    return byte < bits_->size() && (((*bits_)[byte] >> (row % 8U)) & 1U) != 0;
  }

  double share() const { return share_; }

  // The allowed documents of a sealed segment, possibly including dead ones; null if they are
  // unknown or if all rows are allowed.
  const AllowedDocuments* in(std::uint32_t serial) const;

 private:
  std::optional<std::span<const std::uint8_t>> bits_;
  double share_ = 1.0;
  const MappedRows* mapped_ = nullptr;
};

}  // namespace oneiros::lexical
