// The signature of a kernel: inputs have one value per row, parameters one value per call.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "ranking/rule.h"

namespace oneiros {

// An input with its domain.
struct InputSpec {
  std::string_view name;
  const Rule* rule = nullptr;  // null: any number; NaN is always allowed
};

// A parameter with its rule.
struct ParameterSpec {
  std::string_view name;
  Rule rule;
  std::size_t count = 1;  // values of a list; 0: a list of any length, which must be last
};

// Declared as a constant next to each formula. Argument checks, batching and the Python signatures
// are derived from it.
struct Signature {
  static constexpr std::size_t kMostInputs = 8;
  static constexpr std::size_t kMostParameters = 12;

  constexpr Signature(std::string_view its_name, std::initializer_list<InputSpec> its_inputs,
                      std::initializer_list<ParameterSpec> its_parameters,
                      void (*its_check)(const double* numbers) = nullptr)
      : name(its_name), check(its_check) {
    for (const InputSpec& input : its_inputs) {
      inputs[input_count++] = input;
    }
    for (const ParameterSpec& parameter : its_parameters) {
      parameters[parameter_count++] = parameter;
      number_count += parameter.count;
      has_table = has_table || parameter.count == 0;
    }
  }

  std::string_view name;
  std::array<InputSpec, kMostInputs> inputs{};
  std::size_t input_count = 0;
  std::array<ParameterSpec, kMostParameters> parameters{};
  std::size_t parameter_count = 0;
  std::size_t number_count = 0;  // parameters without the table, lists flattened
  bool has_table = false;
  // Checks conditions that involve several parameters; throws std::invalid_argument.
  void (*check)(const double* numbers);
};

}  // namespace oneiros
