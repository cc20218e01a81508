// Decay of many weights by the row kernel association_decay: the same code, hence the same bits, as
// in programs and in Python.
#include "association/link_decay.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "ranking/kernel.h"
#include "ranking/kernel_code.h"
#include "ranking/parameter.h"

namespace oneiros {

void require_valid(const LinkClock& clock) {
  require(kFinite, "now_seconds", clock.now_seconds);
  require(kAboveZero, "tau_days", clock.tau_days);
}

void decay_weights(std::span<double> weights, std::span<double> last_seconds,
                   const LinkClock& clock) {
  assert(weights.size() == last_seconds.size());
  static const std::size_t kernel = *kernel_named(formulas::AssociationDecay::kSignature.name);
  const LoopsOf<double>& loops = real_loops<double>(loops_of(simd_path()));
  double* const days = last_seconds.data();
  loops.age({.time_seconds = last_seconds.data(),
             .now_seconds = clock.now_seconds,
             .unit_seconds = kSecondsPerLinkDay,
             .is_future = nullptr,
             .result = days,
             .size = last_seconds.size()});
  std::ranges::transform(last_seconds, last_seconds.begin(), finite_days);
  const std::array<const double*, 2> inputs{weights.data(), days};
  loops.rows[kernel]({.inputs = inputs.data(),
                      .numbers = &clock.tau_days,
                      .table = nullptr,
                      .table_size = 0,
                      .times = nullptr,
                      .result = weights.data(),
                      .size = weights.size()});
}

}  // namespace oneiros
