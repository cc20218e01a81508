#include "ranking/spread_weight.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "ranking/parameter.h"

namespace oneiros {

template <std::floating_point Real>
void spread_weight(std::span<const Real> session_spread, Real cap, std::span<Real> factor) {
  assert(session_spread.size() == factor.size());
  require(cap > 0, "cap", "must be > 0", static_cast<double>(cap));
  for (const Real spread : session_spread) {
    require(!(spread < 0) && !std::isinf(spread), "session_spread", "must be finite and >= 0",
            static_cast<double>(spread));
  }
  for (std::size_t i = 0; i < session_spread.size(); ++i) {
    // log2 is exact at powers of two; ln(2) / ln 2 need not be 1.
    const Real weight = std::log2(Real(1) + session_spread[i]);
    factor[i] = weight > cap ? cap : weight;
  }
}

template void spread_weight<float>(std::span<const float>, float, std::span<float>);
template void spread_weight<double>(std::span<const double>, double, std::span<double>);

}  // namespace oneiros
