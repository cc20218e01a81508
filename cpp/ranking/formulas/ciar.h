// The formulas of docs/systems/ciar.md as row-wise kernels: the published model (A1 to A3) and the
// variant that was shipped (A12). Ages are in days.
#pragma once

#include <cstddef>
#include <limits>

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/formulas/of_count.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// Parameters have open upper bounds; as closed bounds in double precision.
inline constexpr double kBelowOne = 0x1.fffffffffffffp-1;
inline constexpr Rule kRate{0.0, kBelowOne, true, false, "must be > 0 and < 1"};
inline constexpr Rule kReinforcement{0.0, kBelowOne, false, false, "must be >= 0 and < 1"};

// A1, A7: exp(-rate age), the decay by age since creation.
struct CiarDecay {
  static constexpr Signature kSignature{"ciar_decay", {{"age_days"}}, {{"rate", kRate}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    return decay(age_days * numbers[0]);
  }
};

// A1: 1 + reinforcement x accesses. An infinite number of accesses counts as the largest finite
// one, so that a certainty, impact or decay of 0 still gives 0 (A3).
struct CiarReinforcement {
  static constexpr Signature kSignature{
      "ciar_reinforcement", {{"access_count"}}, {{"reinforcement", kReinforcement}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real access_count) {
    return at_most(Real(1) + numbers[0] * access_count, std::numeric_limits<Real>::max());
  }
};

// The product without and with clamping. The parameter "clamp" chooses between them once per call.
struct CiarUnclamped {
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real certainty, Real impact,
                                          Real age_days, Real access_count) {
    return certainty * impact * CiarDecay::value(numbers, age_days) *
           CiarReinforcement::value(numbers + 1, access_count);
  }
};

struct CiarClamped {
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real certainty, Real impact,
                                          Real age_days, Real access_count) {
    return clamped(CiarUnclamped::value(numbers, certainty, impact, age_days, access_count),
                   Real(0), Real(1));
  }
};

// A1 to A3: certainty x impact x decay x reinforcement, clamped to [0, 1] if clamp is 1.
struct Ciar {
  static constexpr Signature kSignature{
      "ciar",
      {{"certainty"}, {"impact"}, {"age_days"}, {"access_count"}},
      {{"rate", kRate}, {"reinforcement", kReinforcement}, {"clamp", kFlag}}};
  static constexpr std::size_t kSwitch = 2;
  using Off = CiarUnclamped;
  using On = CiarClamped;
};

// A12: max(floor, exp(-rate min(age, most_days))): decay with a floor and a limit of age.
struct CiarShippedDecay {
  static constexpr Signature kSignature{
      "ciar_shipped_decay",
      {{"age_days"}},
      {{"rate", kRate}, {"most_days", kAboveZero}, {"floor", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    return at_least(decay(at_most(age_days, numbers[1]) * numbers[0]), numbers[2]);
  }
};

// A12: 1 + min(most_gain, gain ln(1 + accesses)). Tabulated for small counts.
struct CiarShippedReinforcement : OfCountAlone<CiarShippedReinforcement> {
  static constexpr Signature kSignature{"ciar_shipped_reinforcement",
                                        {{"access_count"}},
                                        {{"gain", kWeight}, {"most_gain", kWeight}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* numbers, Real access_count) {
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

  using ByRow = OfCount<CiarShipped>;

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real count(const Real* /*numbers*/, Real /*certainty*/,
                                          Real /*impact*/, Real /*age_days*/, Real access_count) {
    return access_count;
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* numbers, Real access_count) {
    return CiarShippedReinforcement::of_count(numbers + 3, access_count);
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real with_count(const Real* numbers, Real reinforcement,
                                               Real certainty, Real impact, Real age_days,
                                               Real /*access_count*/) {
    return certainty * impact * CiarShippedDecay::value(numbers, age_days) * reinforcement;
  }
};

}  // namespace oneiros::formulas
