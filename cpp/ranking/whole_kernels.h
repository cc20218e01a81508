// Replacement of program parts by kernels that compute them in one pass over the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ranking/kernel.h"

namespace oneiros {

// One instruction: a kernel applied to registers.
struct KernelCall {
  Kernel kernel;
  std::vector<std::size_t> inputs;
};

// Register `number` may be computed by `call` with the same bits, provided that register `one`, if
// given, is 1 in every row and that nothing else reads the `absorbed` registers.
struct WholeKernel {
  std::size_t number;
  KernelCall call;
  std::optional<std::size_t> one;
  std::vector<std::size_t> absorbed;
};

// Finds the replacements in a program. `calls` write the registers from `first_call` on; `ones`
// tells for each earlier register whether it may be 1 in every row. If a register has several
// replacements, the largest comes first.
[[nodiscard]] std::vector<WholeKernel> whole_kernels_in(std::span<const KernelCall> calls,
                                                        std::span<const char> ones);

}  // namespace oneiros
