#include "ranking/depth_weight.h"

#include <cassert>
#include <cstddef>

#include "ranking/lanes.h"
#include "ranking/parameter.h"

namespace oneiros {

namespace {

template <std::floating_point Real>
inline __attribute__((always_inline)) bool are_depths(const Real* depth, std::size_t size) {
  Truth<Real> faults = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Real value = depth[i];
    const Real known = value == 1 ? Real(1) : value == 2 ? Real(2) : Real(3);
    faults |= static_cast<Truth<Real>>((value < known) | (value > known));  // NaN is neither
  }
  return faults == 0;
}

template <std::floating_point Real>
inline __attribute__((always_inline)) void look_up(const Real* depth,
                                                   const std::array<Real, kDepths>& table,
                                                   Real* factor, std::size_t size) {
  const auto [first, second, third] = table;
  for (std::size_t i = 0; i < size; ++i) {
    const Real value = depth[i];
    Real weight = value == 1 ? first : value;  // NaN stays
    weight = value == 2 ? second : weight;
    factor[i] = value == 3 ? third : weight;
  }
}

ONEIROS_LANES bool judge(const float* depth, std::size_t size) { return are_depths(depth, size); }

ONEIROS_LANES bool judge(const double* depth, std::size_t size) { return are_depths(depth, size); }

ONEIROS_LANES void run(const float* depth, const std::array<float, kDepths>& table, float* factor,
                       std::size_t size) {
  look_up(depth, table, factor, size);
}

ONEIROS_LANES void run(const double* depth, const std::array<double, kDepths>& table,
                       double* factor, std::size_t size) {
  look_up(depth, table, factor, size);
}

}  // namespace

template <std::floating_point Real>
void depth_weight(std::span<const Real> depth, const std::array<Real, kDepths>& table,
                  std::span<Real> factor) {
  assert(depth.size() == factor.size());
  for (const Real weight : table) {
    require_weight("table", static_cast<double>(weight));
  }
  if (!judge(depth.data(), depth.size())) {
    for (const Real value : depth) {
      require(value == 1 || value == 2 || value == 3 || value != value, "depth",
              "must be 1, 2 or 3", static_cast<double>(value));
    }
  }
  run(depth.data(), table, factor.data(), depth.size());
}

template void depth_weight<float>(std::span<const float>, const std::array<float, kDepths>&,
                                  std::span<float>);
template void depth_weight<double>(std::span<const double>, const std::array<double, kDepths>&,
                                   std::span<double>);

}  // namespace oneiros
