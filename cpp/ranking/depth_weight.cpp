#include "ranking/depth_weight.h"

#include <cassert>
#include <cstddef>

#include "ranking/parameter.h"

namespace oneiros {

template <std::floating_point Real>
void depth_weight(std::span<const Real> depth, const std::array<Real, kDepths>& table,
                  std::span<Real> factor) {
  assert(depth.size() == factor.size());
  for (const Real weight : table) {
    require_weight("table", static_cast<double>(weight));
  }
  const auto is_depth = [](Real value) {
    return (value == 1) | (value == 2) | (value == 3) | (value != value);
  };
  bool all_hold = true;
  for (const Real value : depth) {
    all_hold &= is_depth(value);
  }
  for (std::size_t i = 0; !all_hold && i < depth.size(); ++i) {
    require(is_depth(depth[i]), "depth", "must be 1, 2 or 3", static_cast<double>(depth[i]));
  }
  for (std::size_t i = 0; i < depth.size(); ++i) {
    const Real value = depth[i];
    const Real deep = value == 3 ? table[2] : value;  // NaN stays
    const Real middle = value == 2 ? table[1] : deep;
    factor[i] = value == 1 ? table[0] : middle;
  }
}

template void depth_weight<float>(std::span<const float>, const std::array<float, kDepths>&,
                                  std::span<float>);
template void depth_weight<double>(std::span<const double>, const std::array<double, kDepths>&,
                                   std::span<double>);

}  // namespace oneiros
