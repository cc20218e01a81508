// Which documents of one sealed segment a search may return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings.h"
#include "lexical/window_loops.h"

namespace oneiros::lexical {

class AllowedDocuments {
 public:
  // Fewer than one of so many documents are listed, too.
  static constexpr std::size_t kSparse = 8;

  // None of so many.
  explicit AllowedDocuments(std::size_t document_count);

  // REQUIRES: document < document_count.
  void allow(DocumentNumber document) {
    bits_[document / 8U] = static_cast<std::uint8_t>(bits_[document / 8U] | 1U << document % 8U);
  }
  bool contains(DocumentNumber document) const {
    return ((bits_[document / 8U] >> document % 8U) & 1U) != 0;
  }
  // To be called once all are allowed.
  void settle();

  // Bit d % 8 of byte d / 8 says whether document d may be returned. As many bytes more as a window
  // may reach beyond the last document.
  const std::uint8_t* bits() const { return bits_.data(); }
  bool are_sparse() const { return are_sparse_; }
  // Ascending. REQUIRES: are_sparse().
  std::span<const DocumentNumber> documents() const { return documents_; }

  std::size_t resident_bytes() const {
    return bits_.capacity() + documents_.capacity() * sizeof(DocumentNumber);
  }

 private:
  static constexpr std::size_t kPadding = kSparseWindow / 8 + sizeof(std::uint64_t);

  std::size_t document_count_;
  bool are_sparse_ = false;
  std::vector<std::uint8_t> bits_;
  std::vector<DocumentNumber> documents_;
};

}  // namespace oneiros::lexical
