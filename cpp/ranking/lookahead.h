// Columns that come from memory, asked for before their turn.
#pragma once

#include <cstddef>
#include <vector>

#include "ranking/kernel_code.h"
#include "ranking/operand.h"

namespace oneiros {

// The processor's own look-ahead stops at each page and starts anew for each column, and while a
// kernel computes it has nothing to follow. So the kernels ask for the next tile between their
// rows, a few lines at a time: more at once would hold them up.
class ColumnLookahead {
 public:
  // Rows between two requests.
  static constexpr std::size_t kEvery = 64;

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
