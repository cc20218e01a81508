// Conversion of a range's bounds to the column's type, so that values are compared without
// conversion and with the same result as in double.
#include "ranking/operand.h"

#include <cmath>
#include <limits>

namespace oneiros {

namespace {

// The smallest float >= `low`: a float is below it exactly if it is below `low`.
float float_from(double low) {
  const auto nearest = static_cast<float>(low);
  return static_cast<double>(nearest) < low
             ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
             : nearest;
}

ColumnRange fitted(ColumnRange range) {
  if (range.column.type == ElementType::f32) {
    range.low = float_from(range.low);
    range.high = -float_from(-range.high);
  }
  return range;
}

}  // namespace

RangeJudge::RangeJudge(const ColumnRange& range)
    : range_(fitted(range)),
      loop_(loops_of(simd_path()).any_outside[static_cast<std::size_t>(range.column.type)]) {}

bool RangeJudge::any_outside(std::size_t row, std::size_t size) const {
  const std::size_t width = kElementBytes[static_cast<std::size_t>(range_.column.type)];
  return loop_({static_cast<const std::byte*>(range_.column.values) + row * width, size, range_.low,
                range_.high, range_.may_be_nan, range_.must_be_whole});
}

}  // namespace oneiros
