// Evaluation of single kernels over columns, including the kernels that need a whole list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranking/kernel.h"
#include "ranking/program.h"

namespace oneiros {

// The names of all kernels, list kernels included.
[[nodiscard]] std::vector<std::string_view> kernel_names();

// The signature of a kernel. Throws std::invalid_argument for an unknown name.
[[nodiscard]] const Signature& kernel_signature(std::string_view name);

// Writes the kernel's value of each row to `result`, which may share memory with an input of the
// same type. Uses up to `threads` threads; the values do not depend on their number. Throws
// std::invalid_argument, before anything is written, for an unknown name, a wrong number of inputs,
// invalid parameters (see Kernel) and inputs outside the kernel's domain. Thread-safe. REQUIRES:
// each input's count is result.size() or 1.
template <typename Real>
void evaluate(std::string_view kernel, const KernelParameters& parameters,
              std::span<const Operand> inputs, std::span<Real> result, unsigned threads);

}  // namespace oneiros
