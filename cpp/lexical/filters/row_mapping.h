// Translation of rows to documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/segments/document_table.h"

namespace oneiros::lexical {

// Iterates over rows or over documents, whichever are fewer. Refers to its arguments. Not
// thread-safe.
class RowMapping {
 public:
  // For about `count` rows given as bits, and segments with `document_count` documents in total.
  RowMapping(std::span<const std::uint8_t> bits, std::size_t count, std::size_t document_count);
  // For rows in ascending order.
  explicit RowMapping(std::span<const std::uint32_t> listed);

  // The documents whose rows are in the set.
  AllowedDocuments of(const DocumentTable& documents);

 private:
  std::span<const std::uint32_t> listed(bool in_order);

  std::span<const std::uint8_t> bits_;
  std::size_t count_ = 0;
  bool are_few_ = true;
  bool is_listed_ = true;
  bool is_in_order_ = true;
  std::vector<std::uint32_t> own_;
  std::span<const std::uint32_t> listed_;  // if they are few, filled on first use
};

}  // namespace oneiros::lexical
