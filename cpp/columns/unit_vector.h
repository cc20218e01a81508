// Vectors brought to length 1.
#pragma once

#include <span>

namespace oneiros {

// What rounding to float32 leaves of a squared length of 1: such a vector keeps its bits.
inline constexpr double kUnitTolerance = 0x1p-22;

enum class UnitVector { made, zero, refused };

// Writes `values`, divided by their length, to `unit`, which is as long; nothing is written unless
// `made` is returned. `zero`: they have no direction. `refused`: one of them, or their squared
// length, is no finite number. The sum goes by 8 fixed lanes in float64: equal bits everywhere.
UnitVector to_unit(std::span<const float> values, std::span<float> unit);
UnitVector to_unit(std::span<const double> values, std::span<float> unit);

}  // namespace oneiros
