// The formulas of docs/systems/ciar.md.
#pragma once

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

inline constexpr double kBelowOne = 0x1.fffffffffffffp-1;
inline constexpr Rule kRate{0.0, kBelowOne, true, false, "must be > 0 and < 1"};
inline constexpr Rule kReinforcement{0.0, kBelowOne, false, false, "must be >= 0 and < 1"};
inline constexpr Rule kThreshold{0.0, 1.0, true, false, "must be > 0 and <= 1"};

// (significance x decay) x reinforcement, where a certainty or an impact of 0 is a veto (A3) even
// against an endless number of accesses.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real vetoed(Real significance, Real decay, Real reinforcement) {
  const Real faded = significance * decay;
  const Real score = faded * reinforcement;
  const bool is_veto = (faded == Real(0)) & (reinforcement == reinforcement);
  return is_veto ? Real(0) : score;
}

// A1, A7: exp(-rate age).
struct CiarDecay {
  static constexpr Signature kSignature{"ciar_decay", {{"age_days"}}, {{"rate", kRate}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    return exponential(elapsed(age_days) * -numbers[0]);
  }
};

// A1: 1 + reinforcement x accesses.
struct CiarReinforcement {
  static constexpr Signature kSignature{
      "ciar_reinforcement", {{"access_count"}}, {{"reinforcement", kReinforcement}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real access_count) {
    return Real(1) + numbers[0] * access_count;
  }
};

// A1 to A3: certainty x impact x decay x reinforcement, clamped to [0, 1] where clamp is 1.
struct Ciar {
  static constexpr Signature kSignature{
      "ciar",
      {{"certainty"}, {"impact"}, {"age_days"}, {"access_count"}},
      {{"rate", kRate}, {"reinforcement", kReinforcement}, {"clamp", kFlag}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real certainty, Real impact,
                                          Real age_days, Real access_count) {
    const Real decay = CiarDecay::value(numbers, age_days);
    const Real reinforcement = CiarReinforcement::value(numbers + 1, access_count);
    const Real score = vetoed(certainty * impact, decay, reinforcement);
    const bool is_clamped = numbers[2] != Real(0);
    const Real low = is_clamped ? Real(0) : -std::numeric_limits<Real>::infinity();
    const Real high = is_clamped ? Real(1) : std::numeric_limits<Real>::infinity();
    return clamped(score, low, high);
  }
};

// A12: max(floor, exp(-rate min(age, most_days))).
struct CiarShippedDecay {
  static constexpr Signature kSignature{
      "ciar_shipped_decay",
      {{"age_days"}},
      {{"rate", kRate}, {"most_days", kAboveZero}, {"floor", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    const Real days = at_most(elapsed(age_days), numbers[1]);
    return at_least(exponential(days * -numbers[0]), numbers[2]);
  }
};

// A12: 1 + min(most_gain, gain ln(1 + accesses)).
struct CiarShippedReinforcement {
  static constexpr Signature kSignature{"ciar_shipped_reinforcement",
                                        {{"access_count"}},
                                        {{"gain", kWeight}, {"most_gain", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real access_count) {
    return Real(1) + at_most(numbers[0] * logarithm_of_one_plus(access_count), numbers[1]);
  }
};

// A12: certainty x impact x decay x reinforcement as shipped, not clamped.
struct CiarShipped {
  static constexpr Signature kSignature{"ciar_shipped",
                                        {{"certainty"}, {"impact"}, {"age_days"}, {"access_count"}},
                                        {{"rate", kRate},
                                         {"most_days", kAboveZero},
                                         {"floor", kShare},
                                         {"gain", kWeight},
                                         {"most_gain", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real certainty, Real impact,
                                          Real age_days, Real access_count) {
    return vetoed(certainty * impact, CiarShippedDecay::value(numbers, age_days),
                  CiarShippedReinforcement::value(numbers + 3, access_count));
  }
};

// A4: 1 where score >= threshold, else 0.
struct ShouldPromote {
  static constexpr Signature kSignature{"should_promote", {{"score"}}, {{"threshold", kThreshold}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real score) {
    const Real verdict = score >= numbers[0] ? Real(1) : Real(0);
    return is_nan(score) ? score : verdict;
  }
};

}  // namespace oneiros::formulas
