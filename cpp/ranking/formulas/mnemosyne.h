// The formulas of docs/systems/mnemosyne.md as row-wise kernels. Ages are in hours.
#pragma once

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// M5: (1 - weight) + weight exp(-age / tau). Without a timestamp the exponential counts as 0.5.
struct RecencyBlend {
  static constexpr Signature kSignature{
      "recency_blend", {{"age_hours"}}, {{"tau_hours", kPositive}, {"weight", kShare}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real age_hours) {
    const Real weight = numbers[1];
    const Real decayed = decay(age_hours * rate_of(numbers[0]));
    const Real recency = is_nan(age_hours) ? Real(0.5) : decayed;
    return (Real(1) - weight) + weight * recency;
  }
};

// M8: exp(-(age / eta)^shape), a Weibull survival function; shape and eta may vary by row.
struct WeibullRetention {
  static constexpr Signature kSignature{
      "weibull_retention", {{"age_hours"}, {"shape"}, {"eta_hours", &kAboveZero}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*numbers*/, Real age_hours, Real shape,
                                          Real eta_hours) {
    const Real lives = elapsed(age_hours) / eta_hours;
    const Real kept = decay(power(lives, shape));
    return is_nan(lives) || is_nan(shape) ? kNaN<Real> : kept;  // 1^NaN and NaN^0 are no 1 here
  }
};

}  // namespace oneiros::formulas
