// Normalisation of vectors to length 1.
#pragma once

#include <span>

namespace oneiros {

// The rounding to float32 of a unit vector's squared length: such a vector keeps its bits.
inline constexpr double kUnitTolerance = 0x1p-22;

enum class UnitVector { made, zero, refused };

// Writes `values` divided by their length to `unit`, of the same size. Writes nothing unless it
// returns `made`. `zero`: all components are 0. `refused`: a component or the squared length is not
// finite. The sum is computed in float64 over 8 fixed lanes: the same bits on every machine.
UnitVector to_unit(std::span<const float> values, std::span<float> unit);
UnitVector to_unit(std::span<const double> values, std::span<float> unit);

}  // namespace oneiros
