// Boost of what is stable: factor = exp((age / tau) (1 - 1 / S)), clamped.
// Source: docs/systems/reverie.md R8.
#pragma once

#include <concepts>
#include <span>

namespace oneiros {

// Writes one factor in [low, high] per row. At S = 1 it is exactly 1 for every age (where 1 lies in
// the clamp), as it is at age 0 for every S > 0; S <= 0 gives `low`. An age below 0 counts as 0; a
// NaN age (no timestamp) gives exactly 1, a NaN stability gives NaN.
// REQUIRES: the three spans have one size. `factor` may be the memory of either.
// Throws std::invalid_argument unless tau_days is finite and > 0 and 0 <= low <= high <= 1e6.
// Thread-safe: touches nothing but its arguments.
template <std::floating_point Real>
void stability_boost(std::span<const Real> age_days, std::span<const Real> stability, Real tau_days,
                     Real low, Real high, std::span<Real> factor);

}  // namespace oneiros
