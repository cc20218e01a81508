// Rows that searches are limited to, and the documents that they are in sealed segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lexical/allowed_documents.h"
#include "lexical/row_map.h"
#include "lexical/view.h"

namespace oneiros::lexical {

// The documents of the rows in each sealed segment of one moment.
class MappedRows {
 public:
  // Goes by rows or by documents, whichever are fewer. Nothing if a row has moved since, to where
  // the view does not know.
  static std::optional<MappedRows> of(std::span<const std::uint8_t> rows, const View& view,
                                      const RowMap& locations);

  // Whether it is right, if `now` is the epoch after it was made: rows lead to the documents of
  // now, which are those of the view only as long as nobody writes.
  bool is_right(Epoch now) const { return !is_by_row_ || now == epoch_; }

  // Null if it is no segment of that moment.
  const AllowedDocuments* find(std::uint32_t serial) const;
  // Whether it tells of all sealed segments of this moment, too.
  bool covers(const View& view) const;
  std::size_t resident_bytes() const;

 private:
  bool look_rows_up(std::span<const std::uint8_t> rows, const View& view, const RowMap& locations);
  void look_through_documents(std::span<const std::uint8_t> rows, const View& view);

  Epoch epoch_ = 0;
  bool is_by_row_ = false;  // then, documents that died before the epoch are not in it
  std::vector<std::pair<std::uint32_t, AllowedDocuments>> segments_;  // by serial
};

}  // namespace oneiros::lexical
