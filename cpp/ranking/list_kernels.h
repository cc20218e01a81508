// Kernels whose value of one row needs the whole list. Sources: docs/systems/omega.md O3,
// docs/systems/house.md H3, H4, docs/systems/mnemosyne.md M4.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ranking/kernel.h"
#include "ranking/program.h"

namespace oneiros {

template <typename Real>
struct ListCall {
  std::span<const Operand> inputs;
  std::span<const double> numbers;  // as Kernel::numbers(), the table last
  std::span<Real> result;
  unsigned threads;
};

// minmax_floor(scores; low): low + (1 - low) (s - worst) / (best - worst), 1 where all are equal.
//   NaN stays and is neither worst nor best.
// blend(bm25, cosine; weight): weight bm25 / best bm25 + (1 - weight) max(cosine, 0).
// spread_neighbours(scores, left, right; share, decay, reach): s_i plus, for each distance r up to
//   reach, share decay^(r - 1) times the sum of the scores r steps to the left and to the right.
//   left and right: each row's neighbour by index, -1 for none.
// weighted_sum(channel...; weights): the sum of weight x score in channel order.
[[nodiscard]] std::span<const Signature* const> list_signatures() noexcept;

// REQUIRES: `kernel` is the number of one of list_signatures(), the call's inputs are as many as it
// takes and of result.size() or 1 values, its numbers judged. `result` may be the memory of an
// input. Throws std::invalid_argument for neighbours that do not exist and weights that are not
// one an input.
template <typename Real>
void run_list_kernel(std::size_t kernel, const ListCall<Real>& call);

}  // namespace oneiros
