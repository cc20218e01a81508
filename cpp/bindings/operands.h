// Conversion of NumPy arrays to operands of kernels and programs.
#pragma once

#include <cstddef>
#include <string>

#include "bindings/arrays.h"
#include "ranking/kernel.h"
#include "ranking/program.h"

namespace oneiros {

// A view of `array`, never a copy. Throws TypeError for a dtype other than float32, float64, an
// integer or bool, ValueError unless it is one-dimensional, contiguous and aligned.
[[nodiscard]] Operand operand_of(const py::array& array, const std::string& name);

// Converts {"name": number or list of numbers}. Throws TypeError for other values.
[[nodiscard]] KernelParameters parameters_of(const py::dict& parameters);

// Validates a number of threads. Throws ValueError unless it is from 1 to 256.
[[nodiscard]] unsigned checked_threads(unsigned threads);

// Throws ValueError if `result` partly overlaps an operand; exactly the same memory is allowed.
void refuse_overlap(const py::array& result, const Operand& operand, const std::string& name);

// Throws ValueError if `result` overlaps an operand at all.
void refuse_sharing(const py::array& result, const Operand& operand, const std::string& name);

// Calls body with a float or a double, according to `dtype`. Throws ValueError for another name.
template <typename Body>
auto for_dtype(const std::string& dtype, Body body) {
  if (dtype == "float32") {
    return body(float{});
  }
  if (dtype == "float64") {
    return body(double{});
  }
  throw py::value_error("dtype: must be \"float32\" or \"float64\", got \"" + dtype + "\"");
}

}  // namespace oneiros
