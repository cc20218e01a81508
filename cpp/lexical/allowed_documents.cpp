#include "lexical/allowed_documents.h"

#include "lexical/set_bits.h"

namespace oneiros::lexical {

AllowedDocuments::AllowedDocuments(std::size_t document_count)
    : document_count_(document_count), bits_(document_count / 8 + kPadding) {}

void AllowedDocuments::settle() {
  const std::size_t count = count_bits(bits_);
  are_sparse_ = count * kSparse < document_count_;
  if (are_sparse_) {
    documents_.reserve(count);
    for_each_bit(bits_, [this](std::size_t document) {
      documents_.push_back(static_cast<DocumentNumber>(document));
    });
  }
}

}  // namespace oneiros::lexical
