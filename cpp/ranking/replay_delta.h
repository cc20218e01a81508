// Strength gained by one replay: clamp(max_delta / (1 + age_hours) ln(1 + peers), 0, max_delta).
// Source: docs/systems/reverie.md R11, R17.
#pragma once

#include <concepts>
#include <span>

namespace oneiros {

// Writes one gain in [0, max_delta] per row. An age below 0 counts as 0; NaN in either argument
// gives NaN.
// REQUIRES: the three spans have one size. `delta` may be the memory of either.
// Throws std::invalid_argument, before anything is written, for a peer count below 0 or infinite
// and for a max_delta outside [0, 1e6]. Thread-safe: touches nothing but its arguments.
template <std::floating_point Real>
void replay_delta(std::span<const Real> peer_count, std::span<const Real> age_hours, Real max_delta,
                  std::span<Real> delta);

}  // namespace oneiros
