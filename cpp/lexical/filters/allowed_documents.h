// The documents of one sealed segment that a filter allows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings/postings.h"
#include "lexical/search/window_loops.h"

namespace oneiros::lexical {

// A bit set over the segment's document numbers, and a sorted list if they are few. Immutable after
// construction; any number of threads may read. Memory: one bit per document, plus four bytes per
// listed one.
class AllowedDocuments {
 public:
  // With fewer than one allowed document per this many, they are listed as well.
  static constexpr std::size_t kListed = 128;

  // The documents for which is_allowed(document) holds, or the given ones, in any order.
  template <typename IsAllowed>
  AllowedDocuments(std::size_t document_count, IsAllowed is_allowed);
  AllowedDocuments(std::size_t document_count, const std::vector<DocumentNumber>& documents);
  // The allowed documents where rows count up from `first_row`: `documents` maps rows to documents,
  // and only those in range are taken.
  AllowedDocuments(std::span<const DocumentNumber> documents, std::uint32_t first_row,
                   std::span<const std::uint32_t> rows);
  // A copy of another set with the given documents toggled.
  AllowedDocuments(const AllowedDocuments& former, std::span<const DocumentNumber> changed);

  bool contains(DocumentNumber document) const {
    return ((bits_[document / 8U] >> document % 8U) & 1U) != 0;
  }
  // Bit d % 8 of byte d / 8 is set if document d is allowed. Padded with as many zero bytes as a
  // window may reach beyond the last document.
  const std::uint8_t* bits() const { return bits_.data(); }
  std::size_t count() const { return count_; }
  bool are_listed() const { return are_listed_; }
  // Ascending; empty unless they are listed.
  std::span<const DocumentNumber> documents() const { return documents_; }
  std::span<const DocumentNumber> listed_before(DocumentNumber end) const {
    return {documents_.begin(), std::ranges::lower_bound(documents_, end)};
  }

  std::size_t resident_bytes() const {
    return bits_.capacity() + documents_.capacity() * sizeof(DocumentNumber);
  }

 private:
  static constexpr std::size_t kPadding = kSparseWindow / 8 + sizeof(std::uint64_t);

  void allow(DocumentNumber document) {
    bits_[document / 8U] = static_cast<std::uint8_t>(bits_[document / 8U] | 1U << document % 8U);
  }
  void list(std::size_t document_count);  // if they are few. REQUIRES: count_ is set

  std::size_t count_ = 0;
  bool are_listed_ = false;
  std::vector<std::uint8_t> bits_;
  std::vector<DocumentNumber> documents_;
};

template <typename IsAllowed>
AllowedDocuments::AllowedDocuments(std::size_t document_count, IsAllowed is_allowed)
    : bits_(document_count / 8 + kPadding) {
  for (DocumentNumber document = 0; document < document_count; ++document) {
    if (is_allowed(document)) {
      allow(document);
      ++count_;
    }
  }
  list(document_count);
}

}  // namespace oneiros::lexical
