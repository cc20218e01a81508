// The formulas of docs/systems/house.md, the default profile, as row-wise kernels.
#pragma once

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// H3: w bm25 / best_bm25 + (1 - w) max(cosine, 0); the first term is 0 if no candidate has a
// positive BM25. The kernel `blend` finds the best in the list itself.
struct BlendWithBest {
  static constexpr Signature kSignature{
      "blend_with_best", {{"bm25"}, {"best_bm25"}, {"cosine"}}, {{"weight", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real bm25, Real best_bm25,
                                          Real cosine) {
    const Real weight = numbers[0];
    const Real share = best_bm25 > Real(0) ? bm25 / best_bm25 : bm25 * Real(0);
    return weight * share + (Real(1) - weight) * at_least(cosine, Real(0));
  }
};

// H6: 1 - amount + amount x factor: limits the influence of a factor to `amount`.
struct Damp {
  static constexpr Signature kSignature{"damp", {{"factor"}}, {{"amount", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real factor) {
    return (Real(1) - numbers[0]) + numbers[0] * factor;
  }
};

// H6: max(floor, 2^(-age / half-life)). No timestamp: 1.
struct HalfLifeDecay {
  static constexpr Signature kSignature{
      "half_life_decay", {{"age_days"}}, {{"half_life_days", kPositive}, {"floor", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    const Real half_lives = elapsed(age_days) / numbers[0];
    const Real decayed = at_least(binary_exponential(-half_lives), numbers[1]);
    return is_nan(age_days) ? Real(1) : decayed;
  }
};

}  // namespace oneiros::formulas
