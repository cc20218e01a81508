// Weight by depth of consolidation: a table look-up. Source: docs/systems/reverie.md R6.
#pragma once

#include <array>
#include <concepts>
#include <span>

namespace oneiros {

inline constexpr std::size_t kDepths = 3;

// Writes table[depth - 1] per depth; NaN stays NaN.
// REQUIRES: depth.size() == factor.size(). The two may be the same memory.
// Throws std::invalid_argument, before anything is written, for a depth that is not 1, 2 or 3 and
// for a table entry outside [0, 1e6].
// Thread-safe: touches nothing but its arguments.
template <std::floating_point Real>
void depth_weight(std::span<const Real> depth, const std::array<Real, kDepths>& table,
                  std::span<Real> factor);

}  // namespace oneiros
