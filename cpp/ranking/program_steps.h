// The steps one run of a program takes: those its outputs need, with products combined.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "ranking/operand.h"
#include "ranking/program.h"
#include "ranking/signature.h"

namespace oneiros {

// The computation of one register.
struct StepCall {
  const Kernel* kernel = nullptr;
  // The kernel's input registers, then the factor its values are multiplied by, if any.
  std::array<std::size_t, Signature::kMostInputs + 1> registers{};
  std::size_t input_count = 0;
  bool is_times = false;

  [[nodiscard]] std::span<const std::size_t> inputs() const {
    return {registers.data(), input_count};
  }
  [[nodiscard]] std::span<const std::size_t> reads() const {
    return {registers.data(), input_count + (is_times ? 1 : 0)};
  }
};

// Dead-code elimination and fusion. Parts that one kernel computes as a whole (whole_kernels.h) are
// replaced by it. Multiplications by a constant 1 are dropped, and a multiplication of a value that
// nothing else reads is folded into the step that computes it, which saves a write and a read. The
// results have the same bits as the unoptimised steps.
class ProgramSteps {
 public:
  // REQUIRES: the operands are the program's, the outputs its registers; all outlive the object.
  ProgramSteps(const Program& program, std::span<const Operand> operands,
               std::span<const std::size_t> outputs);

  // The registers with the outputs' values, one per output.
  [[nodiscard]] std::span<const std::size_t> outputs() const noexcept { return outputs_; }
  // True if the register contributes to an output.
  [[nodiscard]] bool is_needed(std::size_t number) const { return uses_[number] != 0; }
  // True if one output is the only reader of the value.
  [[nodiscard]] bool is_output_only(std::size_t number) const {
    return uses_[number] == kUsesOfOutput;
  }
  // True if every row has the same value.
  [[nodiscard]] bool is_uniform(std::size_t number) const { return is_uniform_[number] != 0; }
  // REQUIRES: the register is not an input.
  [[nodiscard]] const StepCall& call(std::size_t number) const {
    return calls_[number - first_step_];
  }

 private:
  static constexpr std::size_t kUsesOfOutput = 2;  // so that it is never read by a single step only

  // Record one register: whether it is uniform, and whether it equals another one.
  void read_input(std::size_t number);
  void read_step(std::size_t number);
  // True if every row of the register is 1.
  [[nodiscard]] bool is_one(std::size_t number) const;
  // Counts the readers of each register, starting from the outputs.
  void count_uses();
  // Replacement of a product by a kernel that computes it as a whole.
  [[nodiscard]] bool can_take(const WholeKernel& whole) const;
  void take(const WholeKernel& whole);
  // Folding of a multiplication into the step that computes one of its factors.
  void fold(std::size_t number);
  [[nodiscard]] bool can_fold(std::size_t number) const;

  const Program& program_;
  std::span<const Operand> operands_;
  std::size_t first_step_;            // register of the first step
  std::vector<StepCall> calls_;       // one per step of the program
  std::vector<std::size_t> same_as_;  // by register: the one that holds its value
  std::vector<std::size_t>
      uses_;  // by register: number of readers, an output counting kUsesOfOutput
  std::vector<char> is_uniform_;
  std::vector<std::size_t> outputs_;
};

}  // namespace oneiros
