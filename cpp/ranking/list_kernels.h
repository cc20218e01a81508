// Kernels whose value of a row depends on the whole list. Sources: docs/systems/omega.md O3,
// docs/systems/house.md H3, H4, docs/systems/mnemosyne.md M4.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ranking/kernel.h"
#include "ranking/program.h"

namespace oneiros {

// The arguments of a list kernel.
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

// Runs a list kernel. Throws std::invalid_argument for neighbours that do not exist and for a
// number of weights different from that of the inputs. REQUIRES: `kernel` is a number from
// list_signatures(); the inputs match it and have result.size() or 1 values; the numbers are
// validated. `result` may share memory with an input.
template <typename Real>
void run_list_kernel(std::size_t kernel, const ListCall<Real>& call);

}  // namespace oneiros
