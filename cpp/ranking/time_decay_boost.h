// Boost of what was updated lately: factor = 1 + boost exp(-age / tau).
// Source: docs/systems/reverie.md R4.
#pragma once

#include <concepts>
#include <span>

namespace oneiros {

// Writes one factor in [1, 1 + boost] per age. An age below 0 (a clock ahead of `now`) counts as 0;
// NaN (no timestamp) gives exactly 1.
// REQUIRES: age_days.size() == factor.size(). The two may be the same memory.
// Throws std::invalid_argument unless boost is in [0, 1e6] and tau_days finite and > 0.
// Thread-safe: touches nothing but its arguments.
template <std::floating_point Real>
void time_decay_boost(std::span<const Real> age_days, Real boost, Real tau_days,
                      std::span<Real> factor);

}  // namespace oneiros
