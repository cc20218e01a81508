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

// A validated program. Immutable; any number of threads may run it.
class Program {
 public:
  static constexpr std::size_t kMostRegisters = 4096;

  // Inputs are registers 0 to I - 1; instruction j writes register I + j. Throws
  // std::invalid_argument for a register that is not written yet, a wrong number of inputs, an age
  // without a time or with a unit that is not > 0 and finite, and as Kernel.
  Program(std::vector<ProgramInput> inputs, const std::vector<Instruction>& instructions);

  // The names of operands, each once: values and times in order of first appearance.
  [[nodiscard]] std::span<const std::string> operand_names() const noexcept {
    return operand_names_;
  }
  // The number of inputs and instructions.
  [[nodiscard]] std::size_t register_count() const noexcept {
    return inputs_.size() + steps_.size();
  }

  // The arguments of a run. Nothing is copied: all memory must outlive the call.
  template <typename Real>
  struct Run {
    std::span<const Operand> operands;  // one per name of operand_names(), in that order
    double now_seconds;
    std::size_t size;                      // rows
    std::span<const std::size_t> outputs;  // registers
    std::span<Real* const> results;        // room for `size` values per output
    unsigned threads = 1;
    // Columns whose values are checked during the run, operands or not. Values out of range are
    // computed like any others.
    std::span<const ColumnRange> ranges = {};
    // The number of rows of the whole table, if these rows are a part: decides whether results
    // bypass the cache.
    std::size_t whole_size = 0;
  };

  // Computes the outputs; only what they need is computed. A result may share the memory of an
  // operand of its type, if both start at the same address; it must not overlap other results or
  // checked columns, which are checked while results are written. Throws std::invalid_argument,
  // before anything is written, for an output that is not a register, an operand or checked column
  // of a wrong length, and a now_seconds that is not finite. Deterministic for any number of
  // threads.
  template <typename Real>
  Outcome run(const Run<Real>& run) const;

 private:
  template <typename Real>
  friend class ProgramRun;
  template <typename Real>
  friend class ProgramLayout;
  friend class ProgramSteps;

  // ValueInput and AgeInput with the indices of their operands.
  struct Value {
    std::size_t operand;
    double otherwise;
  };
  struct Age {
    std::vector<std::size_t> operands;
    double unit_seconds;
  };

  // The index of the operand with this name, added if new.
  std::size_t operand_named(const std::string& name);
  void add_input(const ProgramInput& input);
  void add_step(const Instruction& instruction);

  std::vector<std::string> operand_names_;
  std::vector<std::variant<Value, Age>> inputs_;
  std::vector<KernelCall> steps_;
  std::vector<WholeKernel> wholes_;  // the largest first
};

}  // namespace oneiros
