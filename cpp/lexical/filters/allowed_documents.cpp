#include "lexical/filters/allowed_documents.h"

#include <algorithm>

#include "lexical/filters/set_bits.h"

namespace oneiros::lexical {

AllowedDocuments::AllowedDocuments(std::size_t document_count,
                                   const std::vector<DocumentNumber>& documents)
    : bits_(document_count / 8 + kPadding) {
  for (const DocumentNumber document : documents) {
    allow(document);
  }
  count_ = documents.size();
  list(document_count);
}

AllowedDocuments::AllowedDocuments(std::span<const DocumentNumber> documents,
                                   std::uint32_t first_row, std::span<const std::uint32_t> rows)
    : bits_(documents.size() / 8 + kPadding) {
  constexpr std::size_t kAhead = 24;
  std::uint8_t* const bits = bits_.data();
  const DocumentNumber* const each = documents.data();
  const std::size_t size = documents.size();
  const std::uint32_t* const asked = rows.data();
  const std::size_t asked_count = rows.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < asked_count; ++i) {
    const std::uint32_t ahead = asked[std::min(i + kAhead, asked_count - 1)] - first_row;
    __builtin_prefetch(each + (ahead < size ? ahead : 0));
    const std::uint32_t place = asked[i] - first_row;
    if (place < size) {
      const DocumentNumber document = each[place];
      bits[document / 8U] = static_cast<std::uint8_t>(bits[document / 8U] | 1U << document % 8U);
      ++count;
    }
  }
  count_ = count;
  list(documents.size());
}

AllowedDocuments::AllowedDocuments(const AllowedDocuments& former,
                                   std::span<const DocumentNumber> changed)
    : AllowedDocuments(former) {
  for (const DocumentNumber document : changed) {
    const bool is_new = !contains(document);
    bits_[document / 8U] = static_cast<std::uint8_t>(bits_[document / 8U] ^ 1U << document % 8U);
    count_ = is_new ? count_ + 1 : count_ - 1;
    if (are_listed_) {
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
  are_listed_ = count_ * kListed < document_count;
  if (are_listed_) {
    documents_ = list_bits(bits_, count_);
  }
}

}  // namespace oneiros::lexical
