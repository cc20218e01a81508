// From the rows that a search is limited to, to the documents of segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/segments/document_table.h"

namespace oneiros::lexical {

// Goes by rows or by documents, whichever are fewer. For one thread. Borrows what it is made of.
class RowMapping {
 public:
  // Of rows as AllowedRows has them, `count` of them, about; all segments have so many documents.
  RowMapping(std::span<const std::uint8_t> bits, std::size_t count, std::size_t document_count);
  // These, ascending.
  explicit RowMapping(std::span<const std::uint32_t> listed);

  // Those of the documents whose rows they are.
  AllowedDocuments of(const DocumentTable& documents);

 private:
  std::span<const std::uint32_t> listed(bool in_order);

  std::span<const std::uint8_t> bits_;
  std::size_t count_ = 0;
  bool are_few_ = true;
  bool is_listed_ = true;
  bool is_in_order_ = true;
  std::vector<std::uint32_t> own_;
  std::span<const std::uint32_t> listed_;  // if they are few, once they are listed
};

}  // namespace oneiros::lexical
