#include "ranking/stability_boost.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "ranking/lanes.h"
#include "ranking/parameter.h"
#include "simd/exponential.h"

namespace oneiros {

namespace {

template <std::floating_point Real>
struct Bounds {
  Real tau_days;
  Real low;
  Real high;
};

template <std::floating_point Real>
inline __attribute__((always_inline)) void boost(const Real* age_days, const Real* stability,
                                                 Bounds<Real> bounds, Real* factor,
                                                 std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const Real age = age_days[i];
    const Real given = stability[i];
    const Real taus = (age < 0 ? Real(0) : age) / bounds.tau_days;
    // 1 - 1/S, without the cancellation near S = 1, where long ages would make it count. No
    // division behind a condition: it would keep the loop from becoming SIMD.
    const Real largest = std::numeric_limits<Real>::max();
    const Real bounded = given > largest ? largest : given;
    const Real gain = (bounded - 1) / bounded;
    // Both factors can be infinite while the other is 0: an endless age at S = 1, a vanishing S at
    // age 0. The formula's value there is exp(0).
    const Real grown = gain == 0 ? Real(0) : taus;
    const Real exponent = grown * (taus == 0 ? Real(0) : gain);
    Real value = exponential(exponent);
    value = value < bounds.low ? bounds.low : value;
    value = value > bounds.high ? bounds.high : value;
    value = given <= 0 ? bounds.low : value;
    value = std::isnan(age) ? Real(1) : value;
    factor[i] = std::isnan(given) ? given : value;
  }
}

ONEIROS_LANES void run(const float* age_days, const float* stability, Bounds<float> bounds,
                       float* factor, std::size_t size) {
  boost(age_days, stability, bounds, factor, size);
}

ONEIROS_LANES void run(const double* age_days, const double* stability, Bounds<double> bounds,
                       double* factor, std::size_t size) {
  boost(age_days, stability, bounds, factor, size);
}

}  // namespace

template <std::floating_point Real>
void stability_boost(std::span<const Real> age_days, std::span<const Real> stability, Real tau_days,
                     Real low, Real high, std::span<Real> factor) {
  assert(age_days.size() == factor.size() && stability.size() == factor.size());
  require_positive("tau_days", static_cast<double>(tau_days));
  require_weight("low", static_cast<double>(low));
  require_weight("high", static_cast<double>(high));
  require(low <= high, "low", "must be <= high", static_cast<double>(low));
  run(age_days.data(), stability.data(), Bounds<Real>{tau_days, low, high}, factor.data(),
      factor.size());
}

template void stability_boost<float>(std::span<const float>, std::span<const float>, float, float,
                                     float, std::span<float>);
template void stability_boost<double>(std::span<const double>, std::span<const double>, double,
                                      double, double, std::span<double>);

}  // namespace oneiros
