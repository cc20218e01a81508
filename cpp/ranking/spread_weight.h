// Weight by the number of sessions a memory was used in: factor = min(ln(1 + spread) / ln 2, cap).
// Source: docs/systems/reverie.md R7.
#pragma once

#include <concepts>
#include <span>

namespace oneiros {

// Writes one factor in [0, cap] per count; exactly 1 at a spread of 1 (cap allowing); NaN stays
// NaN. REQUIRES: session_spread.size() == factor.size(). The two may be the same memory. Throws
// std::invalid_argument, before anything is written, for a spread below 0 or infinite and for a cap
// that is not > 0 (infinity is no cap). Thread-safe: touches nothing but its arguments.
template <std::floating_point Real>
void spread_weight(std::span<const Real> session_spread, Real cap, std::span<Real> factor);

}  // namespace oneiros
