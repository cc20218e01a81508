// What a kernel takes: its inputs, one value a row, and its parameters, one value a call.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace oneiros {

// The values that are allowed, and how an error says so.
struct Rule {
  double low;
  double high;
  bool is_above_low;  // `low` itself is refused
  bool is_whole;
  std::string_view words;

  [[nodiscard]] constexpr bool allows(double value) const noexcept {
    // Whole numbers beyond 2^53 are asked for by no rule.
    return value >= low && value <= high && !(is_above_low && value == low) &&
           !(is_whole && value != static_cast<double>(static_cast<long long>(value)));
  }
};

inline constexpr double kEndless = std::numeric_limits<double>::infinity();
inline constexpr double kLargest = std::numeric_limits<double>::max();

inline constexpr Rule kAnyNumber{-kEndless, kEndless, false, false, "must not be NaN"};
inline constexpr Rule kFinite{-kLargest, kLargest, false, false, "must be finite"};
inline constexpr Rule kPositive{0.0, kLargest, true, false, "must be > 0 and finite"};
inline constexpr Rule kAboveZero{0.0, kEndless, true, false, "must be > 0"};
inline constexpr Rule kNotNegative{0.0, kLargest, false, false, "must be finite and >= 0"};
inline constexpr Rule kShare{0.0, 1.0, false, false, "must be in [0, 1]"};
inline constexpr Rule kFlag{0.0, 1.0, false, true, "must be 0 or 1"};
// With it as the bound of every factor's parameter no product of factors overflows, so that no NaN
// reaches a sort.
inline constexpr Rule kWeight{0.0, 1e6, false, false, "must be in [0, 1e6]"};
inline constexpr Rule kDepth{1.0, 3.0, false, true, "must be 1, 2 or 3"};
inline constexpr Rule kCategory{0.0, 3.0, false, true, "must be 0, 1, 2 or 3"};

struct InputSpec {
  std::string_view name;
  const Rule* rule = nullptr;  // nullptr: every number; NaN is never refused
};

struct ParameterSpec {
  std::string_view name;
  Rule rule;
  std::size_t count = 1;  // values of a list; 0: a list of any length, which comes last
};

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
  // Judges what no single parameter's rule can; throws std::invalid_argument.
  void (*check)(const double* numbers);
};

}  // namespace oneiros
