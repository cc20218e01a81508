// The formulas of docs/systems/reverie.md as row-wise kernels. Ages are in the unit of their name.
// `numbers` are the parameters in the order of the signature, validated by its rules. NaN stands
// for a missing timestamp or value; each formula says what follows from it.
#pragma once

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/formulas/of_count.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// Depths of memories; other values are rejected before a run.
inline constexpr Rule kDepth{1.0, 3.0, false, true, "must be 1, 2 or 3"};

// R4: 1 + boost exp(-age / tau). No timestamp: 1.
struct TimeDecayBoost {
  static constexpr Signature kSignature{
      "time_decay_boost", {{"age_days"}}, {{"boost", kWeight}, {"tau_days", kPositive}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days) {
    const Real boost = numbers[0];
    const Real tau_days = numbers[1];
    const Real factor = Real(1) + boost * decay(age_days * rate_of(tau_days));
    return is_nan(age_days) ? Real(1) : factor;
  }
};

// R6: table[depth - 1], the weight of a memory's depth. NaN for a depth that is not 1, 2 or 3.
struct DepthWeight {
  static constexpr Signature kSignature{
      "depth_weight", {{"depth", &kDepth}}, {{"table", kWeight, 3}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* table, Real depth) {
    Real weight = depth == Real(1) ? table[0] : kNaN<Real>;
    weight = depth == Real(2) ? table[1] : weight;
    return depth == Real(3) ? table[2] : weight;
  }
};

// R7: min(ln(1 + spread) / ln 2, cap): exactly 1 at one session. No count: NaN.
struct SpreadWeight : OfCountAlone<SpreadWeight> {
  static constexpr Signature kSignature{
      "spread_weight", {{"session_spread", &kNotNegative}}, {{"cap", kAboveZero}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* numbers, Real session_spread) {
    const Real cap = numbers[0];
    // The binary logarithm is exact at powers of two; ln(2) / ln 2 need not be 1.
    return at_most(binary_logarithm_of_one_plus(as_count(session_spread)), cap);
  }
};

// R8: exp((age / tau) (1 - 1 / S)) in [low, high]; exactly 1 at S = 1 for every age and at age 0
// for every S > 0; S <= 0 gives low. No timestamp: 1.
struct StabilityBoost {
  static void check(const double* numbers);
  static constexpr Signature kSignature{
      "stability_boost",
      {{"age_days"}, {"stability"}},
      {{"tau_days", kPositive}, {"low", kWeight}, {"high", kWeight}},
      &check};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_days, Real stability) {
    const Real low = numbers[1];
    const Real high = numbers[2];
    const Real bounded = at_most(stability, std::numeric_limits<Real>::max());
    // In double, so that the exponent is rounded once, since its error is amplified. (S - 1) / S
    // equals 1 - 1/S without the cancellation near S = 1, which long ages would make visible. The
    // division is unconditional: a branch would prevent vectorisation.
    const double taus =
        static_cast<double>(elapsed(age_days)) * rate_of(static_cast<double>(numbers[0]));
    const double gain = (static_cast<double>(bounded) - 1.0) / static_cast<double>(bounded);
    const auto product = static_cast<Real>(taus * gain);
    // One factor can be infinite while the other is 0: an infinite age at S = 1, S near 0 at age 0.
    // The formula's value there is exp(0).
    const Real exponent = is_nan(product) ? Real(0) : product;
    Real factor = clamped(exponential(exponent), low, high);
    factor = stability <= Real(0) ? low : factor;
    factor = is_nan(age_days) ? Real(1) : factor;
    return is_nan(stability) ? stability : factor;
  }
};

// R10: 2^(-age / half-life) max(access_floor, ln(1 + uses)) importance (1 - overlap): the order in
// which a dream cycle scans memories.
struct ScanPriority {
  static constexpr Signature kSignature{
      "scan_priority",
      {{"age_hours"}, {"uses", &kNotNegative}, {"importance"}, {"overlap"}},
      {{"half_life_hours", kPositive}, {"access_floor", kWeight}}};

  using ByRow = OfCount<ScanPriority>;

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real count(const Real* /*numbers*/, Real /*age_hours*/, Real uses,
                                          Real /*importance*/, Real /*overlap*/) {
    return uses;
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* numbers, Real uses) {
    return at_least(logarithm_of_one_plus(as_count(uses)), numbers[1]);
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real with_count(const Real* numbers, Real access, Real age_hours,
                                               Real /*uses*/, Real importance, Real overlap) {
    const Real recency = binary_exponential(-(elapsed(age_hours) / numbers[0]));
    return recency * access * importance * (Real(1) - overlap);
  }
};

// R12: max(floor, strength x rate), synaptic downscaling; a strength below the floor is unchanged.
struct Downscale {
  static constexpr Signature kSignature{"downscale", {{"strength"}, {"rate"}}, {{"floor", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real strength, Real rate) {
    const Real scaled = strength * rate;
    const Real least = at_most(strength, numbers[0]);
    return scaled < least ? least : scaled;
  }
};

// R13: idle / limit, stale from 1 on; 0 without a limit (infinity).
struct Staleness {
  static constexpr Signature kSignature{
      "staleness", {{"idle_days"}, {"limit_days", &kAboveZero}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*numbers*/, Real idle_days,
                                          Real limit_days) {
    // A quotient: at the limit it is exactly 1.
    const Real share = elapsed(idle_days) / limit_days;
    const Real bounded = limit_days > std::numeric_limits<Real>::max() ? Real(0) : share;
    return is_nan(idle_days) ? idle_days : bounded;
  }
};

// R16: accesses (1 + revisions) weight / age; 0 if the numerator is 0, at any age.
struct Signal {
  static constexpr Signature kSignature{
      "signal", {{"access_count"}, {"age_days"}, {"revision_count"}, {"weight"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*numbers*/, Real access_count, Real age_days,
                                          Real revision_count, Real weight) {
    const Real uses = access_count * (Real(1) + revision_count) * weight;
    const Real days = elapsed(age_days);
    const Real a_day = uses / days;
    const Real signal = uses == Real(0) ? Real(0) : a_day;
    return is_nan(days) ? days : signal;
  }
};

// R11, R17: max_delta / (1 + age) ln(1 + peers), clamped to [0, max_delta]: the gain of strength by
// replay.
struct ReplayDelta {
  static constexpr Signature kSignature{
      "replay_delta", {{"peer_count", &kNotNegative}, {"age_hours"}}, {{"max_delta", kWeight}}};

  using ByRow = OfCount<ReplayDelta>;

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real count(const Real* /*numbers*/, Real peer_count,
                                          Real /*age_hours*/) {
    return peer_count;
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real of_count(const Real* /*numbers*/, Real peer_count) {
    return logarithm_of_one_plus(as_count(peer_count));
  }
  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real with_count(const Real* numbers, Real crowd, Real /*peer_count*/,
                                               Real age_hours) {
    const Real max_delta = numbers[0];
    const Real nearness = Real(1) / (Real(1) + elapsed(age_hours));
    return at_most(max_delta * nearness * crowd, max_delta);
  }
};

}  // namespace oneiros::formulas
