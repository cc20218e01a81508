// Construction of programs: names become operand indices, kernels are looked up and validated, and
// replaceable parts are found once (whole_kernels.h).
#include "ranking/program.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"

namespace oneiros {

// Throws on the first inconsistency, with its position in the message.
Program::Program(std::vector<ProgramInput> inputs, const std::vector<Instruction>& instructions) {
  if (inputs.size() + instructions.size() > kMostRegisters) {
    throw std::invalid_argument("program: at most " + std::to_string(kMostRegisters) +
                                " inputs and instructions, got " +
                                std::to_string(inputs.size() + instructions.size()));
  }
  for (const ProgramInput& input : inputs) {
    add_input(input);
  }
  for (const Instruction& instruction : instructions) {
    add_step(instruction);
  }
  std::vector<char> ones;
  for (const auto& input : inputs_) {
    const auto* value = std::get_if<Value>(&input);
    ones.push_back(static_cast<char>(value != nullptr && value->otherwise == 1.0));
  }
  wholes_ = whole_kernels_in(steps_, ones);
}

std::size_t Program::operand_named(const std::string& name) {
  const auto found = std::find(operand_names_.begin(), operand_names_.end(), name);
  const auto number = static_cast<std::size_t>(found - operand_names_.begin());
  if (found == operand_names_.end()) {
    operand_names_.push_back(name);
  }
  return number;
}

void Program::add_input(const ProgramInput& input) {
  if (const auto* value = std::get_if<ValueInput>(&input)) {
    inputs_.emplace_back(Value{operand_named(value->name), value->otherwise});
    return;
  }
  const auto& age = std::get<AgeInput>(input);
  require(kPositive, "unit_seconds", age.unit_seconds);
  if (age.times.empty()) {
    throw std::invalid_argument("inputs[" + std::to_string(inputs_.size()) +
                                "]: an age needs at least one time");
  }
  Age times{{}, age.unit_seconds};
  for (const std::string& name : age.times) {
    times.operands.push_back(operand_named(name));
  }
  inputs_.emplace_back(std::move(times));
}

void Program::add_step(const Instruction& instruction) {
  Kernel kernel(instruction.kernel, instruction.parameters);
  const std::size_t wanted = kernel.signature().input_count;
  if (instruction.inputs.size() != wanted) {
    throw std::invalid_argument(instruction.kernel + ": takes " + std::to_string(wanted) +
                                (wanted == 1 ? " input" : " inputs") + ", got " +
                                std::to_string(instruction.inputs.size()));
  }
  for (const std::size_t input : instruction.inputs) {
    if (input >= register_count()) {
      throw std::invalid_argument(instruction.kernel + ": register " + std::to_string(input) +
                                  " is not written before instruction " +
                                  std::to_string(steps_.size()));
    }
  }
  steps_.push_back({std::move(kernel), instruction.inputs});
}

}  // namespace oneiros
