// Peephole optimisation of one run: a forward pass marks uniform registers and products with 1, a
// backward count of uses finds dead steps, whole kernels replace the products they match, and a
// backward pass folds multiplications into the steps that compute their factors.
#include "ranking/program_steps.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace oneiros {

namespace {

bool is_product(const Kernel& kernel) {
  static const std::size_t kMultiply = *kernel_named("multiply");
  return kernel.number() == kMultiply;
}

}  // namespace

ProgramSteps::ProgramSteps(const Program& program, std::span<const Operand> operands,
                           std::span<const std::size_t> outputs)
    : program_(program),
      operands_(operands),
      first_step_(program.inputs_.size()),
      calls_(program.steps_.size()),
      same_as_(program.register_count()),
      uses_(program.register_count()),
      is_uniform_(program.register_count()) {
  for (std::size_t number = 0; number < first_step_; ++number) {
    read_input(number);
  }
  for (std::size_t number = first_step_; number < program.register_count(); ++number) {
    read_step(number);
  }
  outputs_.reserve(outputs.size());
  for (const std::size_t output : outputs) {
    outputs_.push_back(same_as_[output]);
  }
  count_uses();
  for (const WholeKernel& whole : program.wholes_) {
    if (can_take(whole)) {
      take(whole);
    }
  }
  for (std::size_t number = program.register_count(); number-- > first_step_;) {
    if (is_needed(number) && is_product(*call(number).kernel)) {
      fold(number);
    }
  }
}

void ProgramSteps::read_input(std::size_t number) {
  const auto is_same = [&](std::size_t operand) {
    return operands_[operand].values == nullptr || operands_[operand].count == 1;
  };
  same_as_[number] = number;
  if (const auto* value = std::get_if<Program::Value>(&program_.inputs_[number])) {
    is_uniform_[number] = static_cast<char>(is_same(value->operand));
  } else {
    const auto& times = std::get<Program::Age>(program_.inputs_[number]).operands;
    is_uniform_[number] = static_cast<char>(std::all_of(times.begin(), times.end(), is_same));
  }
}

void ProgramSteps::read_step(std::size_t number) {
  const KernelCall& step = program_.steps_[number - first_step_];
  StepCall& its = calls_[number - first_step_];
  its.kernel = &step.kernel;
  bool is_same = true;
  for (const std::size_t input : step.inputs) {
    its.registers[its.input_count++] = same_as_[input];
    is_same = is_same && is_uniform(same_as_[input]);
  }
  is_uniform_[number] = static_cast<char>(is_same);
  same_as_[number] = number;
  if (is_product(step.kernel)) {
    const auto [first, second] = std::pair(its.registers[0], its.registers[1]);
    same_as_[number] = is_one(first) ? second : is_one(second) ? first : number;
  }
}

bool ProgramSteps::is_one(std::size_t number) const {
  if (number >= first_step_) {
    return false;
  }
  const auto* value = std::get_if<Program::Value>(&program_.inputs_[number]);
  return value != nullptr && operands_[value->operand].values == nullptr && value->otherwise == 1.0;
}

void ProgramSteps::count_uses() {
  for (const std::size_t output : outputs_) {
    uses_[output] += kUsesOfOutput;
  }
  for (std::size_t number = same_as_.size(); number-- > first_step_;) {
    if (!is_needed(number)) {
      continue;
    }
    for (const std::size_t input : call(number).reads()) {
      ++uses_[input];
    }
  }
}

bool ProgramSteps::can_take(const WholeKernel& whole) const {
  // A uniform value is computed once per run, which is cheaper than any fused loop.
  return is_needed(whole.number) && (!whole.one || is_one(*whole.one)) &&
         std::all_of(whole.absorbed.begin(), whole.absorbed.end(),
                     [&](std::size_t number) { return uses_[number] == 1 && !is_uniform(number); });
}

void ProgramSteps::take(const WholeKernel& whole) {
  for (const std::size_t number : whole.absorbed) {
    uses_[number] = 0;
  }
  StepCall its;
  its.kernel = &whole.call.kernel;
  for (const std::size_t input : whole.call.inputs) {
    its.registers[its.input_count++] = same_as_[input];
  }
  calls_[whole.number - first_step_] = its;
}

// The operand that only the product reads; the second factor if both qualify, since scores are
// multiplied by one factor after another.
void ProgramSteps::fold(std::size_t number) {
  StepCall& product = calls_[number - first_step_];
  for (const std::size_t place : {1U, 0U}) {
    const std::size_t value = product.registers[place];
    if (!can_fold(value)) {
      continue;
    }
    const std::size_t times = product.registers[1 - place];
    product = call(value);
    product.registers[product.input_count] = times;
    product.is_times = true;
    uses_[value] = 0;
    return;
  }
}

bool ProgramSteps::can_fold(std::size_t number) const {
  return number >= first_step_ && uses_[number] == 1 && !is_uniform(number) &&
         !call(number).kernel->signature().has_table;
}

}  // namespace oneiros
