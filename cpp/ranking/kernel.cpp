// The registry of kernels by name, and the validation of parameters. The registry is generated from
// the list of formulas at compile time.
#include "ranking/kernel.h"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ranking/formulas/list.h"
#include "ranking/kernel_code.h"
#include "ranking/parameter.h"

namespace oneiros {

namespace {

template <typename... Formula>
constexpr std::array<const Signature*, sizeof...(Formula)> signatures_of(
    formulas::FormulaList<Formula...> /*all*/) {
  return {&Formula::kSignature...};
}

constexpr auto kSignatures = signatures_of(formulas::AllFormulas{});

std::size_t judge(const Signature& signature, const ParameterSpec& spec,
                  const KernelParameters& parameters, std::vector<double>& numbers) {
  const auto found = parameters.find(spec.name);
  if (found == parameters.end()) {
    throw std::invalid_argument(std::string(signature.name) + ": parameter " +
                                std::string(spec.name) + " is missing");
  }
  const std::vector<double>& values = found->second;
  if (spec.count != 0 && values.size() != spec.count) {
    throw std::invalid_argument(
        std::string(spec.name) + ": expected " + std::to_string(spec.count) +
        (spec.count == 1 ? " number" : " numbers") + ", got " + std::to_string(values.size()));
  }
  if (values.size() > kLongestTable) {
    throw std::invalid_argument(std::string(spec.name) + ": at most " +
                                std::to_string(kLongestTable) + " numbers, got " +
                                std::to_string(values.size()));
  }
  for (const double value : values) {
    require(spec.rule, spec.name, value);
    numbers.push_back(value);
  }
  return values.size();
}

void refuse_surplus(const Signature& signature, const KernelParameters& parameters) {
  for (const auto& [name, values] : parameters) {
    bool is_known = false;
    for (std::size_t i = 0; i < signature.parameter_count; ++i) {
      is_known = is_known || signature.parameters[i].name == name;
    }
    if (!is_known) {
      throw std::invalid_argument(std::string(signature.name) + ": has no parameter " + name);
    }
  }
}

float nearest_allowed(double value, const Rule& rule) {
  const auto rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !std::isinf(value)) {
    return std::copysign(std::numeric_limits<float>::max(), rounded);
  }
  if (rule.is_above_low && static_cast<double>(rounded) <= rule.low) {
    return std::nextafter(rounded, std::numeric_limits<float>::infinity());
  }
  return static_cast<double>(rounded) > rule.high ? std::nextafter(rounded, 0.0F) : rounded;
}

std::vector<float> narrowed(const Signature& signature, const std::vector<double>& numbers) {
  std::vector<float> single;
  single.reserve(numbers.size());
  for (std::size_t i = 0; i < signature.parameter_count; ++i) {
    const ParameterSpec& spec = signature.parameters[i];
    const std::size_t end = spec.count == 0 ? numbers.size() : single.size() + spec.count;
    while (single.size() < end) {
      single.push_back(nearest_allowed(numbers[single.size()], spec.rule));
    }
  }
  return single;
}

std::size_t number_of(std::string_view name) {
  const std::optional<std::size_t> number = kernel_named(name);
  if (!number) {
    throw std::invalid_argument("kernel: none is called \"" + std::string(name) + "\"");
  }
  return *number;
}

}  // namespace

std::span<const Signature* const> kernel_signatures() noexcept { return kSignatures; }

std::optional<std::size_t> kernel_named(std::string_view name) noexcept {
  for (std::size_t number = 0; number < kSignatures.size(); ++number) {
    if (kSignatures[number]->name == name) {
      return number;
    }
  }
  return std::nullopt;
}

std::vector<double> judged_numbers(const Signature& signature, const KernelParameters& parameters) {
  std::vector<double> numbers;
  numbers.reserve(signature.number_count);
  for (std::size_t i = 0; i < signature.parameter_count; ++i) {
    judge(signature, signature.parameters[i], parameters, numbers);
  }
  refuse_surplus(signature, parameters);
  if (signature.check != nullptr) {
    signature.check(numbers.data());
  }
  return numbers;
}

Kernel::Kernel(std::string_view name, const KernelParameters& parameters)
    : number_(number_of(name)),
      wide_(judged_numbers(signature(), parameters)),
      single_(narrowed(signature(), wide_)) {
  if (signature().has_table) {
    wide_.push_back(wide_.front());
    single_.push_back(single_.front());
  }
}

const Signature& Kernel::signature() const noexcept { return *kSignatures[number_]; }

namespace formulas {

void StabilityBoost::check(const double* numbers) {
  require(numbers[1] <= numbers[2], "low", "must be <= high", numbers[1]);
}

}  // namespace formulas

namespace baseline {
extern const PathLoops kPathLoops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PathLoops kPathLoops;
}
namespace avx512 {
extern const PathLoops kPathLoops;
}
#endif

const PathLoops& loops_of(SimdPath path) noexcept {
#if defined(__x86_64__)
  switch (path) {
    case SimdPath::avx512:
      return avx512::kPathLoops;
    case SimdPath::avx2:
      return avx2::kPathLoops;
    case SimdPath::baseline:
      break;
  }
#else
  static_cast<void>(path);
#endif
  return baseline::kPathLoops;
}

}  // namespace oneiros
