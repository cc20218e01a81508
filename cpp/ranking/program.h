// A program of kernels: inputs, then instructions, each of which writes one register.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ranking/kernel.h"
#include "ranking/operand.h"
#include "ranking/whole_kernels.h"

namespace oneiros {

// A column or signal, with a default for when it is absent.
struct ValueInput {
  std::string name;
  double otherwise;
};

// The age of a row: now minus the first of these times that is not NaN, in units of `unit_seconds`,
// computed in double precision. A time after now gives 0, no time at all NaN.
struct AgeInput {
  std::vector<std::string> times;
  double unit_seconds;
};

using ProgramInput = std::variant<ValueInput, AgeInput>;

// One step: a kernel applied to registers.
struct Instruction {
  std::string kernel;
  std::vector<std::size_t> inputs;  // registers written before this one
  KernelParameters parameters;
};

// The results of a run besides the values.
struct Outcome {
  std::size_t future_count = 0;  // rows with a required time after now
  bool is_within = true;         // all checked columns are within their ranges
};

// Immutable once made; any number of threads may run it.
class Program {
 public:
  static constexpr std::size_t kMostRegisters = 4096;

  // Inputs are the registers 0 to I - 1; instruction j writes register I + j.
  // Throws std::invalid_argument for a register that is not yet written, a number of inputs that is
  // not the kernel's, and as Kernel; for an age without a time or a unit that is not > 0 and
  // finite.
  Program(std::vector<ProgramInput> inputs, const std::vector<Instruction>& instructions);

  // What a run can be given, each name once: values and times in order of first appearance.
  [[nodiscard]] std::span<const std::string> operand_names() const noexcept {
    return operand_names_;
  }
  [[nodiscard]] std::size_t register_count() const noexcept {
    return inputs_.size() + steps_.size();
  }

  template <typename Real>
  struct Run {
    std::span<const Operand> operands;  // one a name of operand_names(), in that order
    double now_seconds;
    std::size_t size;                      // rows
    std::span<const std::size_t> outputs;  // registers
    std::span<Real* const> results;        // room for `size` values, one an output
    unsigned threads = 1;
    // Columns to judge while they are read anyway, operands or not. What breaks a range is computed
    // like any other value.
    std::span<const ColumnRange> ranges = {};
    // Of the table that these rows are a part of: results too many for the cache go past it.
    std::size_t whole_size = 0;
  };

  // Writes the outputs' values. Only what the outputs need is computed. A result may stand in the
  // memory of an operand of its own type, beginning where that begins; results may overlap neither
  // each other nor a judged column, which is judged when they are written. Throws
  // std::invalid_argument, before anything is written, for an output that is no register, an
  // operand or judged column of another length, a now_seconds that is not finite.
  template <typename Real>
  Outcome run(const Run<Real>& run) const;

 private:
  template <typename Real>
  friend class ProgramRun;
  template <typename Real>
  friend class ProgramLayout;
  friend class ProgramSteps;

  struct Value {
    std::size_t operand;
    double otherwise;
  };
  struct Age {
    std::vector<std::size_t> operands;
    double unit_seconds;
  };

  std::size_t operand_named(const std::string& name);
  void add_input(const ProgramInput& input);
  void add_step(const Instruction& instruction);

  std::vector<std::string> operand_names_;
  std::vector<std::variant<Value, Age>> inputs_;
  std::vector<KernelCall> steps_;
  std::vector<WholeKernel> wholes_;  // the largest first
};

}  // namespace oneiros
