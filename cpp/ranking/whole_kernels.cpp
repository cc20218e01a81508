// Pattern matching of products such as the CIAR formula against a table of kernels that compute
// them whole. A match requires exactly the factors, in order; results have the same bits.
#include "ranking/whole_kernels.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace oneiros {

namespace {

// A product of registers and kernel values, in order, that one kernel computes. The kernel's inputs
// are those of the factors, in order; its parameters are theirs, by name.
struct Product {
  std::string_view kernel;
  std::array<std::string_view, 4> factors;  // a kernel's name; empty: any register
  bool can_clamp;  // its parameter "clamp" replaces a clip to [0, 1] around the product
};

constexpr std::array kProducts{
    Product{"ciar", {"", "", "ciar_decay", "ciar_reinforcement"}, true},
    Product{"ciar_shipped", {"", "", "ciar_shipped_decay", "ciar_shipped_reinforcement"}, false},
};

// Access to the calls that write registers.
class Calls {
 public:
  Calls(std::span<const KernelCall> calls, std::span<const char> ones)
      : calls_(calls), ones_(ones) {}

  [[nodiscard]] const KernelCall* of(std::size_t number) const {
    return number < ones_.size() ? nullptr : &calls_[number - ones_.size()];
  }
  [[nodiscard]] bool is(std::size_t number, std::string_view kernel) const {
    const KernelCall* const call = of(number);
    return call != nullptr && call->kernel.signature().name == kernel;
  }
  [[nodiscard]] bool may_be_one(std::size_t number) const {
    return number < ones_.size() && ones_[number] != 0;
  }

 private:
  std::span<const KernelCall> calls_;
  std::span<const char> ones_;
};

// The factors of a left-deep chain of products.
struct Factors {
  std::vector<std::size_t> registers;
  std::vector<std::size_t> products;  // without the outermost one
  std::optional<std::size_t> one;
};

// Collects the factors of the product in a register; none if it is not a product.
Factors factors_of(const Calls& calls, std::size_t number, bool is_one_dropped) {
  Factors found;
  std::size_t left = number;
  const auto follow = [&] {
    for (; calls.is(left, "multiply"); left = calls.of(left)->inputs[0]) {
      found.registers.push_back(calls.of(left)->inputs[1]);
      found.products.push_back(left);
    }
  };
  follow();
  if (is_one_dropped && calls.may_be_one(left) && !found.registers.empty()) {
    found.one = left;
    left = found.registers.back();
    found.registers.pop_back();
    found.products.pop_back();  // a product with 1 equals its other factor
    follow();
  }
  found.registers.push_back(left);
  std::reverse(found.registers.begin(), found.registers.end());
  if (!found.products.empty()) {
    found.products.erase(found.products.begin());
  }
  return found;
}

// True if the registers are the product's factors, in order.
bool has_factors(const Calls& calls, const Product& product,
                 const std::vector<std::size_t>& registers) {
  return registers.size() == product.factors.size() &&
         std::equal(registers.begin(), registers.end(), product.factors.begin(),
                    [&](std::size_t number, std::string_view kernel) {
                      return kernel.empty() || calls.is(number, kernel);
                    });
}

// The parameters in the form Kernel's constructor takes.
void add_parameters(const Kernel& kernel, KernelParameters& all) {
  const Signature& signature = kernel.signature();
  std::span<const double> numbers = kernel.numbers<double>();
  for (std::size_t i = 0; i < signature.parameter_count; ++i) {
    const ParameterSpec& spec = signature.parameters[i];
    const std::span<const double> its = numbers.first(spec.count);
    all[std::string(spec.name)] = {its.begin(), its.end()};
    numbers = numbers.subspan(spec.count);
  }
}

// The replacement for the product in register `number`, if any.
WholeKernel whole_of(const Calls& calls, const Product& product, std::size_t number,
                     Factors factors, bool is_clipped) {
  KernelParameters parameters;
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> absorbed = std::move(factors.products);
  for (std::size_t i = 0; i < product.factors.size(); ++i) {
    const std::size_t factor = factors.registers[i];
    if (product.factors[i].empty()) {
      inputs.push_back(factor);
      continue;
    }
    const KernelCall& call = *calls.of(factor);
    inputs.insert(inputs.end(), call.inputs.begin(), call.inputs.end());
    add_parameters(call.kernel, parameters);
    absorbed.push_back(factor);
  }
  if (product.can_clamp) {
    parameters["clamp"] = {is_clipped ? 1.0 : 0.0};
  }
  if (is_clipped) {
    absorbed.push_back(number);
  }
  return {number,
          {Kernel(product.kernel, parameters), std::move(inputs)},
          factors.one,
          std::move(absorbed)};
}

// True if the register is a clip to [0, 1].
bool is_clip_to_share(const Calls& calls, std::size_t number) {
  if (!calls.is(number, "clip")) {
    return false;
  }
  const std::span<const double> bounds = calls.of(number)->kernel.numbers<double>();
  return bounds[0] == 0.0 && bounds[1] == 1.0;
}

// Appends the replacements of one register, the largest first.
void add_wholes(const Calls& calls, std::size_t number, std::vector<WholeKernel>& found) {
  const bool is_clipped = is_clip_to_share(calls, number);
  const std::size_t top = is_clipped ? calls.of(number)->inputs[0] : number;
  for (const Product& product : kProducts) {
    for (const bool is_one_dropped : {false, true}) {
      Factors factors = factors_of(calls, top, is_one_dropped);
      const bool is_whole = has_factors(calls, product, factors.registers) &&
                            is_one_dropped == factors.one.has_value() &&
                            (!is_clipped || product.can_clamp);
      if (is_whole) {
        found.push_back(whole_of(calls, product, top, std::move(factors), is_clipped));
        found.back().number = number;
      }
    }
  }
}

}  // namespace

std::vector<WholeKernel> whole_kernels_in(std::span<const KernelCall> calls,
                                          std::span<const char> ones) {
  std::vector<WholeKernel> found;
  const Calls all(calls, ones);
  for (std::size_t number = ones.size() + calls.size(); number-- > ones.size();) {
    add_wholes(all, number, found);
  }
  return found;
}

}  // namespace oneiros
