#include "ranking/replay_delta.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "ranking/parameter.h"

namespace oneiros {

template <std::floating_point Real>
void replay_delta(std::span<const Real> peer_count, std::span<const Real> age_hours, Real max_delta,
                  std::span<Real> delta) {
  assert(peer_count.size() == delta.size() && age_hours.size() == delta.size());
  require_weight("max_delta", static_cast<double>(max_delta));
  for (const Real peers : peer_count) {
    require(!(peers < 0) && !std::isinf(peers), "peer_count", "must be finite and >= 0",
            static_cast<double>(peers));
  }
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const Real hours = age_hours[i] < 0 ? Real(0) : age_hours[i];
    const Real gain = max_delta * (Real(1) / (Real(1) + hours)) * std::log1p(peer_count[i]);
    delta[i] = gain > max_delta ? max_delta : gain;
  }
}

template void replay_delta<float>(std::span<const float>, std::span<const float>, float,
                                  std::span<float>);
template void replay_delta<double>(std::span<const double>, std::span<const double>, double,
                                   std::span<double>);

}  // namespace oneiros
