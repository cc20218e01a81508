// Formulas most of whose work depends on one count.
#pragma once

#include "simd/real.h"

namespace oneiros::formulas {

// The value of a formula that is given in three steps, so that the second may be looked up: which
// count matters, what it comes to, and what all else makes of that.
template <typename Formula>
struct OfCount {
  template <typename Real, typename... Inputs>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Inputs... inputs) {
    const Real found = Formula::of_count(numbers, Formula::count(numbers, inputs...));
    return Formula::with_count(numbers, found, inputs...);
  }
};

// The steps of a formula of a count and nothing else: a base of it.
template <typename Formula>
struct OfCountAlone {
  using ByRow = OfCount<Formula>;

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real count(const Real* /*numbers*/, Real given) {
    return given;
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real with_count(const Real* /*numbers*/, Real found,
                                               Real /*given*/) {
    return found;
  }
};

}  // namespace oneiros::formulas
