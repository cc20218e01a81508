// Values handed to a program or a kernel, and the range that they ought to lie in.
#pragma once

#include <cstddef>

#include "ranking/kernel_code.h"

namespace oneiros {

// Values for one operand of a program, of one of the element types.
struct Operand {
  ElementType type = ElementType::f64;
  const void* values = nullptr;  // nullptr: absent
  std::size_t count = 0;         // one a row, or 1: the same for every row
};

// What a column's values ought to be: in [low, high], compared as doubles.
struct ColumnRange {
  Operand column;
  double low;
  double high;
  bool may_be_nan;
  bool must_be_whole;
};

// Judges a column piece by piece, each in one pass over its own type.
class RangeJudge {
 public:
  // REQUIRES: neither bound is NaN; the column's values outlive the object.
  explicit RangeJudge(const ColumnRange& range);

  // Whether a value of the rows [row, row + size) breaks the range. Thread-safe.
  // REQUIRES: the rows are the column's.
  [[nodiscard]] bool any_outside(std::size_t row, std::size_t size) const;

  [[nodiscard]] const Operand& column() const noexcept { return range_.column; }

 private:
  ColumnRange range_;  // with bounds that its type can hold
  bool (*loop_)(const RangeCall& call);
};

}  // namespace oneiros
