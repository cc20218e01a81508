// Formulas whose cost lies in a function of one count.
#pragma once

#include "simd/real.h"

namespace oneiros::formulas {

// Evaluates a formula given in three steps, so that the second can be tabulated: the count it
// depends on, a function of the count, and the rest.
template <typename Formula>
struct OfCount {
  template <typename Real, typename... Inputs>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Inputs... inputs) {
    const Real found = Formula::of_count(numbers, Formula::count(numbers, inputs...));
    return Formula::with_count(numbers, found, inputs...);
  }
};

// Base of formulas that depend on nothing but a count.
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
