#include "ranking/replay_delta.h"

#include <cassert>
#include <cstddef>

#include "ranking/lanes.h"
#include "ranking/parameter.h"
#include "simd/logarithm.h"

namespace oneiros {

namespace {

template <std::floating_point Real>
inline __attribute__((always_inline)) void replay(const Real* peer_count, const Real* age_hours,
                                                  Real max_delta, Real* delta, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const Real hours = age_hours[i] < 0 ? Real(0) : age_hours[i];
    const Real gain =
        max_delta * (Real(1) / (Real(1) + hours)) * logarithm_of_one_plus(peer_count[i]);
    delta[i] = gain > max_delta ? max_delta : gain;
  }
}

ONEIROS_LANES void run(const float* peer_count, const float* age_hours, float max_delta,
                       float* delta, std::size_t size) {
  replay(peer_count, age_hours, max_delta, delta, size);
}

ONEIROS_LANES void run(const double* peer_count, const double* age_hours, double max_delta,
                       double* delta, std::size_t size) {
  replay(peer_count, age_hours, max_delta, delta, size);
}

}  // namespace

template <std::floating_point Real>
void replay_delta(std::span<const Real> peer_count, std::span<const Real> age_hours, Real max_delta,
                  std::span<Real> delta) {
  assert(peer_count.size() == delta.size() && age_hours.size() == delta.size());
  require_weight("max_delta", static_cast<double>(max_delta));
  require_counts<Real>("peer_count", peer_count);
  run(peer_count.data(), age_hours.data(), max_delta, delta.data(), delta.size());
}

template void replay_delta<float>(std::span<const float>, std::span<const float>, float,
                                  std::span<float>);
template void replay_delta<double>(std::span<const double>, std::span<const double>, double,
                                   std::span<double>);

}  // namespace oneiros
