// Values passed to a program or kernel, and range checks over them.
#pragma once

#include <cstddef>

#include "ranking/kernel_code.h"

namespace oneiros {

// An untyped view of a column or scalar. Does not own its memory.
struct Operand {
  ElementType type = ElementType::f64;
  const void* values = nullptr;  // null: absent
  std::size_t count = 0;         // one per row, or 1: the same for every row
};

// The allowed values of a column: [low, high], compared as doubles.
struct ColumnRange {
  Operand column;
  double low;
  double high;
  bool may_be_nan;
  bool must_be_whole;
};

// Checks a column in parts, each in one pass over its own type.
class RangeJudge {
 public:
  // REQUIRES: neither bound is NaN; the column outlives the object.
  explicit RangeJudge(const ColumnRange& range);

  // True if a value of rows [row, row + size) is outside the range. Thread-safe. REQUIRES: the rows
  // exist.
  [[nodiscard]] bool any_outside(std::size_t row, std::size_t size) const;

  [[nodiscard]] const Operand& column() const noexcept { return range_.column; }

 private:
  ColumnRange range_;  // bounds converted to the column's type
  bool (*loop_)(const RangeCall& call);
};

}  // namespace oneiros
