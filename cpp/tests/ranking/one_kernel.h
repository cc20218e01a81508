// One kernel at one row, for tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "ranking/evaluate.h"

namespace oneiros {

template <typename Real>
std::vector<Real> values_of(std::string_view kernel, const KernelParameters& parameters,
                            const std::vector<std::vector<Real>>& inputs) {
  std::vector<Operand> operands;
  for (const std::vector<Real>& input : inputs) {
    operands.push_back(
        {sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64, input.data(), input.size()});
  }
  std::vector<Real> result(inputs.front().size());
  evaluate<Real>(kernel, parameters, operands, std::span(result), 1);
  return result;
}

template <typename Real = double>
Real value_of(std::string_view kernel, const KernelParameters& parameters,
              std::initializer_list<double> inputs) {
  std::vector<std::vector<Real>> rows;
  for (const double input : inputs) {
    rows.push_back({static_cast<Real>(input)});
  }
  return values_of<Real>(kernel, parameters, rows)[0];
}

}  // namespace oneiros
