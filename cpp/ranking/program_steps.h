// Which steps one run of a program takes: those that its outputs need, products in fewer passes.
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

// What computes one register.
struct StepCall {
  const Kernel* kernel = nullptr;
  // Registers: the kernel's inputs, and behind them what its values are multiplied by, if anything.
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

// What one kernel computes as a whole (whole_kernels.h) is left to it. A multiplication by a
// constant 1 is left out, and one by a value that nothing else reads becomes part of the step that
// computes that value: it is neither written nor read again. The bits are those of all steps one by
// one.
class ProgramSteps {
 public:
  // REQUIRES: operands are the program's, outputs its registers; all outlive the object.
  ProgramSteps(const Program& program, std::span<const Operand> operands,
               std::span<const std::size_t> outputs);

  // The registers that hold the outputs' values, one an output.
  [[nodiscard]] std::span<const std::size_t> outputs() const noexcept { return outputs_; }
  [[nodiscard]] bool is_needed(std::size_t number) const { return uses_[number] != 0; }
  // Whether one output holds the value, and nothing else reads it.
  [[nodiscard]] bool is_output_only(std::size_t number) const {
    return uses_[number] == kUsesOfOutput;
  }
  // Whether every row has the same value.
  [[nodiscard]] bool is_uniform(std::size_t number) const { return is_uniform_[number] != 0; }
  // REQUIRES: the register is no input.
  [[nodiscard]] const StepCall& call(std::size_t number) const {
    return calls_[number - first_step_];
  }

 private:
  static constexpr std::size_t kUsesOfOutput = 2;  // never read by one step alone

  void read_input(std::size_t number);
  void read_step(std::size_t number);
  [[nodiscard]] bool is_one(std::size_t number) const;
  void count_uses();
  [[nodiscard]] bool can_take(const WholeKernel& whole) const;
  void take(const WholeKernel& whole);
  void fold(std::size_t number);
  [[nodiscard]] bool can_fold(std::size_t number) const;

  const Program& program_;
  std::span<const Operand> operands_;
  std::size_t first_step_;            // register
  std::vector<StepCall> calls_;       // one a step of the program
  std::vector<std::size_t> same_as_;  // the register that holds the value of each
  std::vector<std::size_t> uses_;     // how often each is read, kUsesOfOutput an output
  std::vector<char> is_uniform_;
  std::vector<std::size_t> outputs_;
};

}  // namespace oneiros
