// Rows that searches are limited to, and the documents that they are in sealed segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lexical/allowed_documents.h"
#include "lexical/view.h"

namespace oneiros::lexical {

// The documents of the rows in each sealed segment of one moment.
class MappedRows {
 public:
  // Goes by rows or by documents, whichever are fewer.
  MappedRows(std::span<const std::uint8_t> rows, const View& view);

  // Null if it is no segment of that moment.
  const AllowedDocuments* find(std::uint32_t serial) const;
  // Whether it tells of all sealed segments of this moment, too.
  bool covers(const View& view) const;
  std::size_t resident_bytes() const;

 private:
  void look_rows_up(std::span<const std::uint8_t> rows, const View& view);
  void look_through_documents(std::span<const std::uint8_t> rows, const View& view);

  std::vector<std::pair<std::uint32_t, AllowedDocuments>> segments_;  // by serial
};

}  // namespace oneiros::lexical
