#include "lexical/allowed_documents.h"

#include <algorithm>

#include "lexical/set_bits.h"

namespace oneiros::lexical {

AllowedDocuments::AllowedDocuments(std::size_t document_count,
                                   const std::vector<DocumentNumber>& documents)
    : bits_(document_count / 8 + kPadding) {
  for (const DocumentNumber document : documents) {
    allow(document);
  }
  list(document_count);
}

AllowedDocuments::AllowedDocuments(const AllowedDocuments& former,
                                   std::span<const DocumentNumber> changed)
    : AllowedDocuments(former) {
  for (const DocumentNumber document : changed) {
    const bool is_new = !contains(document);
    bits_[document / 8U] = static_cast<std::uint8_t>(bits_[document / 8U] ^ 1U << document % 8U);
    if (are_sparse_) {
      const auto at = std::ranges::lower_bound(documents_, document);
      if (is_new) {
        documents_.insert(at, document);
      } else {
        documents_.erase(at);
      }
    }
  }
}

void AllowedDocuments::list(std::size_t document_count) {
  const std::size_t count = count_bits(bits_);
  are_sparse_ = count * kSparse < document_count;
  if (are_sparse_) {
    documents_ = list_bits(bits_, count);
  }
}

}  // namespace oneiros::lexical
