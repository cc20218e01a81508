// Prefetching of columns across the kernels of a program.
#pragma once

#include <cstddef>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/operand.h"

namespace oneiros {

// When several kernels take turns over tiles, hardware prefetching starts again for each of them.
// Instead, all kernels together prefetch the next tile, a few lines between their rows, since more
// at once would stall them.
class ColumnLookahead {
 public:
  // Adds a column, unless it is known already or the same for every row.
  void add(const Operand& column);
  // Call once all columns are added. Columns small enough for the cache are not prefetched.
  void prepare(std::size_t tile);

  // The lines that step `part` of `parts` prefetches while it works on the tile before `row`.
  [[nodiscard]] LinesAhead part_of(std::size_t row, std::size_t part, std::size_t parts) const;

 private:
  std::vector<Operand> columns_;
  std::vector<LineAhead> lines_;  // the lines of a tile, in row order
};

}  // namespace oneiros
