// Columns that come from memory, asked for before their turn.
#pragma once

#include <cstddef>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/operand.h"

namespace oneiros {

// Where several kernels take turns, each would ask for its own columns when it is about to need
// them. So all of them together ask for the next tile, a few lines between their rows: more at once
// would hold them up.
class ColumnLookahead {
 public:
  // Adds a column, unless it is known or the same for every row.
  void add(const Operand& column);
  // To be called once all columns are there. Of few bytes, which the cache may hold, nothing is
  // asked for.
  void prepare(std::size_t tile);

  // What the step `part` of `parts` is to ask for while it works on the tile before `row`.
  [[nodiscard]] LinesAhead part_of(std::size_t row, std::size_t part, std::size_t parts) const;

 private:
  std::vector<Operand> columns_;
  std::vector<LineAhead> lines_;  // of a tile, in the order of rows
};

}  // namespace oneiros
