// The lines of the next tile of all columns, in row order, divided evenly among the steps of a
// program.
#include "ranking/lookahead.h"

#include <algorithm>
#include <cstdint>

namespace oneiros {

namespace {

// Smaller amounts may be in the last-level cache, which is fast enough.
constexpr std::size_t kFewestBytes = std::size_t{8} << 20;
// Columns are interleaved after this many rows.
constexpr std::size_t kTurn = 16;

}  // namespace

void ColumnLookahead::add(const Operand& column) {
  const bool is_known = std::any_of(columns_.begin(), columns_.end(), [&](const Operand& known) {
    return known.values == column.values;
  });
  if (column.values != nullptr && column.count > 1 && !is_known) {
    columns_.push_back(column);
  }
}

void ColumnLookahead::prepare(std::size_t tile) {
  std::size_t bytes = 0;
  for (const Operand& column : columns_) {
    bytes += column.count * kElementBytes[static_cast<std::size_t>(column.type)];
  }
  if (bytes < kFewestBytes) {
    return;
  }
  for (std::size_t row = 0; row < tile; row += kTurn) {
    for (const Operand& column : columns_) {
      const std::size_t width = kElementBytes[static_cast<std::size_t>(column.type)];
      const std::size_t end = std::min(row + kTurn, tile) * width;
      for (std::size_t byte = (row * width + kLine - 1) / kLine * kLine; byte < end;
           byte += kLine) {
        lines_.push_back({reinterpret_cast<std::uintptr_t>(column.values) + byte, width});
      }
    }
  }
}

LinesAhead ColumnLookahead::part_of(std::size_t row, std::size_t part, std::size_t parts) const {
  const std::size_t first = lines_.size() * part / parts;
  const std::size_t last = lines_.size() * (part + 1) / parts;
  return {lines_.data() + first, last - first, row};
}

}  // namespace oneiros
