#include "ranking/spread_weight.h"

#include <cassert>
#include <cstddef>

#include "ranking/lanes.h"
#include "ranking/parameter.h"
#include "simd/logarithm.h"

namespace oneiros {

namespace {

template <std::floating_point Real>
inline __attribute__((always_inline)) void weigh(const Real* session_spread, Real cap, Real* factor,
                                                 std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    // The binary logarithm is exact at powers of two; ln(2) / ln 2 need not be 1.
    const Real weight = binary_logarithm_of_one_plus(session_spread[i]);
    factor[i] = weight > cap ? cap : weight;
  }
}

ONEIROS_LANES void run(const float* session_spread, float cap, float* factor, std::size_t size) {
  weigh(session_spread, cap, factor, size);
}

ONEIROS_LANES void run(const double* session_spread, double cap, double* factor, std::size_t size) {
  weigh(session_spread, cap, factor, size);
}

}  // namespace

template <std::floating_point Real>
void spread_weight(std::span<const Real> session_spread, Real cap, std::span<Real> factor) {
  assert(session_spread.size() == factor.size());
  require(cap > 0, "cap", "must be > 0", static_cast<double>(cap));
  require_counts<Real>("session_spread", session_spread);
  run(session_spread.data(), cap, factor.data(), factor.size());
}

template void spread_weight<float>(std::span<const float>, float, std::span<float>);
template void spread_weight<double>(std::span<const double>, double, std::span<double>);

}  // namespace oneiros
