#include "ranking/time_decay_boost.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "ranking/lanes.h"
#include "ranking/parameter.h"
#include "simd/exponential.h"

namespace oneiros {

namespace {

template <std::floating_point Real>
inline __attribute__((always_inline)) void decay(const Real* age_days, Real boost, Real tau_days,
                                                 Real* factor, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const Real age = age_days[i];
    const Real value = Real(1) + boost * exponential(-(age < 0 ? Real(0) : age) / tau_days);
    factor[i] = std::isnan(value) ? Real(1) : value;
  }
}

ONEIROS_LANES void run(const float* age_days, float boost, float tau_days, float* factor,
                       std::size_t size) {
  decay(age_days, boost, tau_days, factor, size);
}

ONEIROS_LANES void run(const double* age_days, double boost, double tau_days, double* factor,
                       std::size_t size) {
  decay(age_days, boost, tau_days, factor, size);
}

}  // namespace

template <std::floating_point Real>
void time_decay_boost(std::span<const Real> age_days, Real boost, Real tau_days,
                      std::span<Real> factor) {
  assert(age_days.size() == factor.size());
  require_weight("boost", static_cast<double>(boost));
  require_positive("tau_days", static_cast<double>(tau_days));
  run(age_days.data(), boost, tau_days, factor.data(), age_days.size());
}

template void time_decay_boost<float>(std::span<const float>, float, float, std::span<float>);
template void time_decay_boost<double>(std::span<const double>, double, double, std::span<double>);

}  // namespace oneiros
