// Parts of a program that one kernel computes as a whole, in one pass over the rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ranking/kernel.h"

namespace oneiros {

// One instruction: a kernel over registers.
struct KernelCall {
  Kernel kernel;
  std::vector<std::size_t> inputs;
};

// What register `number` holds may be computed by `kernel`, to the same bits, where every row has 1
// in `one`, if there is such, and nothing else reads what is `absorbed`.
struct WholeKernel {
  std::size_t number;
  KernelCall call;
  std::optional<std::size_t> one;
  std::vector<std::size_t> absorbed;
};

// `calls` write the registers from `first_call` on; `ones` holds, of each register before, whether
// it may be 1 in every row. What is whole by more than one way comes in the order of their sizes,
// the largest first.
[[nodiscard]] std::vector<WholeKernel> whole_kernels_in(std::span<const KernelCall> calls,
                                                        std::span<const char> ones);

}  // namespace oneiros
