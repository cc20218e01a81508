// Minimum and maximum of an array on one SIMD path; part of kernels_of_path.h. NaN is ignored.
#pragma once

#include <concepts>
#include <cstddef>

#include "ranking/blocks_of_path.h"
#include "ranking/kernel_code.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

namespace {
// Written so that a NaN in `value` keeps the other operand.

template <std::floating_point Real>
ONEIROS_ALWAYS_INLINE Real lesser(Real value, Real least) {
  return value < least ? value : least;
}
template <std::floating_point Real>
ONEIROS_ALWAYS_INLINE Real greater(Real value, Real greatest) {
  return value > greatest ? value : greatest;
}

// Each lane keeps its own pair; the lanes are combined once at the end.
template <std::floating_point Real>
Extremes<Real> extremes(const Real* values, std::size_t size) {
  constexpr std::size_t kRows = 4 * kLineRows<Real>;
  Real least[kRows];
  Real greatest[kRows];
  for (std::size_t i = 0; i < kRows; ++i) {
    least[i] = RealFormat<Real>::kInfinity;
    greatest[i] = -RealFormat<Real>::kInfinity;
  }
  std::size_t row = 0;
  for (; row + kRows <= size; row += kRows) {
    for (std::size_t line = 0; line < kRows; line += kLineRows<Real>) {
      ask_ahead_of(values + row + line);
    }
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kRows; ++i) {
      const Real value = values[row + i];
      least[i] = lesser(value, least[i]);
      greatest[i] = greater(value, greatest[i]);
    }
  }
  for (std::size_t i = 0; row + i < size; ++i) {
    least[i] = lesser(values[row + i], least[i]);
    greatest[i] = greater(values[row + i], greatest[i]);
  }
  for (std::size_t i = 1; i < kRows; ++i) {
    least[0] = lesser(least[i], least[0]);
    greatest[0] = greater(greatest[i], greatest[0]);
  }
  return {least[0], greatest[0]};
}

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
