// One kernel over whole columns, and the kernels that need the whole list for each row.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranking/kernel.h"
#include "ranking/program.h"

namespace oneiros {

// The names of all kernels, those over lists included.
[[nodiscard]] std::vector<std::string_view> kernel_names();

// The signature of the kernel of this name. Throws std::invalid_argument where there is none.
[[nodiscard]] const Signature& kernel_signature(std::string_view name);

// Writes the kernel's value of each row. `result` may be the memory of an input of its own type.
// REQUIRES: each input's count is result.size() or 1.
// Throws std::invalid_argument, before anything is written, for a name that is no kernel, another
// number of inputs, as Kernel for its parameters, and for an input outside its kernel's domain.
// Thread-safe.
template <typename Real>
void evaluate(std::string_view kernel, const KernelParameters& parameters,
              std::span<const Operand> inputs, std::span<Real> result, unsigned threads);

}  // namespace oneiros
