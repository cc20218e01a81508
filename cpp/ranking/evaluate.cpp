// Single kernels run as programs of one instruction, so that batches, searches and oneiros.kernels
// share the same loops. List kernels are dispatched to list_kernels.cpp.
#include "ranking/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "ranking/kernel_code.h"
#include "ranking/list_kernels.h"
#include "ranking/parameter.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

std::optional<std::size_t> list_kernel_named(std::string_view name) {
  const auto known = list_signatures();
  for (std::size_t number = 0; number < known.size(); ++number) {
    if (known[number]->name == name) {
      return number;
    }
  }
  return std::nullopt;
}

void check_arity(const Signature& signature, std::size_t given) {
  const std::size_t wanted = signature.input_count;
  if (wanted == 0 ? given == 0 : given != wanted) {
    throw std::invalid_argument(
        std::string(signature.name) + ": takes " +
        (wanted == 0 ? "at least 1 input"
                     : std::to_string(wanted) + (wanted == 1 ? " input" : " inputs")) +
        ", got " + std::to_string(given));
  }
}

// Throws for the first value outside the domain, independent of the number of threads.
void check_domain(const InputSpec& spec, const Operand& operand, unsigned threads) {
  constexpr std::size_t kPiece = 2048;
  const Rule& rule = *spec.rule;
  const double low = rule.is_above_low ? std::nextafter(rule.low, kEndless) : rule.low;
  const RangeJudge judge({operand, low, rule.high, true, rule.is_whole});
  const auto type = static_cast<std::size_t>(operand.type);
  const auto& convert = loops_of(simd_path()).wide.convert[type];
  const auto check_piece = [&](std::size_t begin, std::size_t size) {
    if (!judge.any_outside(begin, size)) {
      return;
    }
    std::array<double, kPiece> piece{};
    convert(static_cast<const std::byte*>(operand.values) + begin * kElementBytes[type],
            piece.data(), size);
    for (std::size_t i = 0; i < size; ++i) {
      require(std::isnan(piece[i]) || rule.allows(piece[i]), spec.name, rule.words, piece[i]);
    }
  };
  const std::size_t grain = grain_for(operand.count, threads, kFewestChunkRows);
  for_each_chunk(operand.count, threads, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; row += kPiece) {
      check_piece(row, std::min(kPiece, end - row));
    }
  });
}

template <typename Real>
void run_rows(std::string_view kernel, const KernelParameters& parameters,
              std::span<const Operand> inputs, std::span<Real> result, unsigned threads) {
  std::vector<ProgramInput> names;
  std::vector<std::size_t> registers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.emplace_back(ValueInput{std::to_string(i), 0.0});
    registers.push_back(i);
  }
  const Program program(std::move(names),
                        {Instruction{std::string(kernel), std::move(registers), parameters}});
  const std::array<std::size_t, 1> outputs{inputs.size()};
  const std::array<Real*, 1> results{result.data()};
  program.run<Real>({inputs, 0.0, result.size(), outputs, results, threads});
}

}  // namespace

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const Signature* signature : kernel_signatures()) {
    names.push_back(signature->name);
  }
  for (const Signature* signature : list_signatures()) {
    names.push_back(signature->name);
  }
  return names;
}

const Signature& kernel_signature(std::string_view name) {
  if (const auto number = kernel_named(name)) {
    return *kernel_signatures()[*number];
  }
  if (const auto number = list_kernel_named(name)) {
    return *list_signatures()[*number];
  }
  throw std::invalid_argument("kernel: none is called \"" + std::string(name) + "\"");
}

template <typename Real>
void evaluate(std::string_view kernel, const KernelParameters& parameters,
              std::span<const Operand> inputs, std::span<Real> result, unsigned threads) {
  const Signature& signature = kernel_signature(kernel);
  check_arity(signature, inputs.size());
  const std::vector<double> numbers = judged_numbers(signature, parameters);
  for (std::size_t i = 0; i < signature.input_count; ++i) {
    if (signature.inputs[i].rule != nullptr) {
      check_domain(signature.inputs[i], inputs[i], threads);
    }
  }
  if (const auto number = list_kernel_named(kernel)) {
    run_list_kernel<Real>(*number, {inputs, numbers, result, threads});
  } else {
    run_rows(kernel, parameters, inputs, result, threads);
  }
}

template void evaluate<float>(std::string_view, const KernelParameters&, std::span<const Operand>,
                              std::span<float>, unsigned);
template void evaluate<double>(std::string_view, const KernelParameters&, std::span<const Operand>,
                               std::span<double>, unsigned);

}  // namespace oneiros
