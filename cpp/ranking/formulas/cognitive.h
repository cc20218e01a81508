// The formulas of docs/systems/cognitive.md as row-wise kernels. Times since the last access are in
// days.
#pragma once

#include <cstddef>
#include <limits>

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// Codes of memory categories, in the order of the parameters.
inline constexpr Rule kCategory{0.0, 3.0, false, true, "must be 0, 1, 2 or 3"};

// The entry of a table of four by category; NaN for other categories.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real by_category(const Real* table, Real category) {
  Real value = category == Real(0) ? table[0] : kNaN<Real>;
  value = category == Real(1) ? table[1] : value;
  value = category == Real(2) ? table[2] : value;
  return category == Real(3) ? table[3] : value;
}

template <bool kIsPower>
// The retention with exponential or power-law forgetting, chosen once per call by the parameter
// "model".
struct RetentionOfModel {
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real days, Real stability,
                                          Real importance, Real category) {
    const Real beta_days = by_category(numbers + 1, category);
    const Real floor = by_category(numbers + 5, category);
    const Real steadiness = at_least(stability, Real(0.01));
    const Real weight = at_most(Real(1) + Real(2) * importance, Real(3));
    const Real pace = steadiness * weight * beta_days;
    // An infinite age over an infinite beta: procedural memories do not decay.
    const Real spent = pace > std::numeric_limits<Real>::max() ? Real(0) : elapsed(days) / pace;
    const Real lost = kIsPower ? Real(1.4427) * logarithm_of_one_plus(spent) : spent;
    const Real kept = at_least(decay(lost), floor);
    const Real timed = is_nan(days) ? floor : kept;
    return is_nan(pace) ? kNaN<Real> : timed;
  }
};

// C1, C2: max(floor, exp(-d / (S' B beta))) or, as model 1, max(floor, (1 + d / (S' B
// beta))^-1.4427) with S' = max(stability, 0.01) and B = min(1 + 2 importance, 3); beta and floor
// by category: episodic, semantic, procedural, core. An infinite beta gives 1. No timestamp: the
// floor.
struct Retention {
  static constexpr Signature kSignature{
      "retention",
      {{"days"}, {"stability"}, {"importance"}, {"category", &kCategory}},
      {{"model", kFlag}, {"beta_days", kAboveZero, 4}, {"floors", kShare, 4}}};
  static constexpr std::size_t kSwitch = 0;
  using Off = RetentionOfModel<false>;
  using On = RetentionOfModel<true>;
};

// C6: similarity x R^alpha.
struct RetentionScore {
  static constexpr Signature kSignature{
      "retention_score", {{"similarity"}, {"retention"}}, {{"alpha", kNotNegative}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real similarity, Real retention) {
    // Chosen per row, so that the loop stays vectorised; and NaN^0 is NaN here, not 1.
    const Real alpha = is_nan(retention) ? retention : numbers[0];
    return similarity * power(retention, alpha);
  }
};

// C11: min(most, days / span), the spacing effect. No timestamp: 1.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real spacing(Real days, Real span_days, Real most) {
  const Real factor = at_most(elapsed(days) / span_days, most);
  return is_nan(days) ? Real(1) : factor;
}

struct SpacingFactor {
  static constexpr Signature kSignature{
      "spacing_factor", {{"days"}}, {{"span_days", kPositive}, {"most", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real days) {
    return spacing(days, numbers[0], numbers[1]);
  }
};

// C11: min(limit, S + gain f), f the spacing factor.
struct ReinforceStability {
  static constexpr Signature kSignature{
      "reinforce_stability",
      {{"stability"}, {"days"}},
      {{"gain", kWeight}, {"span_days", kPositive}, {"most", kWeight}, {"limit", kAboveZero}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real stability, Real days) {
    const Real gain = numbers[0];
    return at_most(stability + gain * spacing(days, numbers[1], numbers[2]), numbers[3]);
  }
};

// C16: w exp(-days / tau), days since the last co-retrieval. No timestamp: w.
struct AssociationDecay {
  static constexpr Signature kSignature{
      "association_decay", {{"weight"}, {"days"}}, {{"tau_days", kPositive}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real weight, Real days) {
    const Real decayed = weight * decay(days * rate_of(numbers[0]));
    return is_nan(days) ? weight : decayed;
  }
};

}  // namespace oneiros::formulas
