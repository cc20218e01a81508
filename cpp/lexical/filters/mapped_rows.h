// Rows that searches are limited to, and the documents that they are in sealed segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lexical/filters/allowed_documents.h"
#include "lexical/filters/row_mapping.h"
#include "lexical/index/view.h"

namespace oneiros::lexical {

class MappedRows;

// Rows that are to be mapped.
struct UnmappedRows {
  RowMapping mapping;
  // Rows much like them that were mapped, perhaps for another moment; and which rows, ascending,
  // are in only one of the two.
  std::shared_ptr<const MappedRows> former = nullptr;
  std::vector<std::uint32_t> changed = {};
};

// The documents of the rows in each sealed segment of one moment.
class MappedRows {
 public:
  // Takes over what it can. `rows.former` itself, if that tells of the same documents.
  static std::shared_ptr<const MappedRows> of(UnmappedRows rows, const View& view);

  // Null if it is no segment of that moment.
  const AllowedDocuments* find(std::uint32_t serial) const;
  // Whether it tells of all sealed segments of this moment, too.
  bool covers(const View& view) const;
  std::size_t resident_bytes() const;

 private:
  using Documents = std::shared_ptr<const AllowedDocuments>;

  Documents share(std::uint32_t serial) const;

  std::vector<std::pair<std::uint32_t, Documents>> segments_;  // by serial
};

}  // namespace oneiros::lexical
