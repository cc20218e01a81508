// A kernel with its parameters: one formula of docs/systems, or a primitive, applicable to rows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranking/signature.h"

namespace oneiros {

// Parameter values by name; a scalar is a list of one.
using KernelParameters = std::map<std::string, std::vector<double>, std::less<>>;

// The number of values of a 16-bit code.
inline constexpr std::size_t kLongestTable = std::size_t{1} << 16;

// The signatures of the row-wise kernels, in the order of formulas/list.h.
[[nodiscard]] std::span<const Signature* const> kernel_signatures() noexcept;

// The number of a row-wise kernel, if there is one of this name.
[[nodiscard]] std::optional<std::size_t> kernel_named(std::string_view name) noexcept;

// Validates parameters and returns them in order, lists flattened, the table last. Throws
// std::invalid_argument for missing, unknown, wrongly sized or out-of-range parameters.
[[nodiscard]] std::vector<double> judged_numbers(const Signature& signature,
                                                 const KernelParameters& parameters);

// A validated kernel. Immutable; any number of threads may use it.
class Kernel {
 public:
  // Throws std::invalid_argument for an unknown name, and as judged_numbers().
  Kernel(std::string_view name, const KernelParameters& parameters);

  // The kernel's position in formulas/list.h.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] const Signature& signature() const noexcept;

  // The parameters without the table. A double that float cannot represent becomes the nearest
  // float that the parameter's rule allows.
  template <typename Real>
  [[nodiscard]] std::span<const Real> numbers() const noexcept {
    return all<Real>().first(signature().number_count);
  }
  // The table. The kernel's first parameter, `otherwise`, is stored one past its end.
  template <typename Real>
  [[nodiscard]] std::span<const Real> table() const noexcept {
    const std::size_t first = signature().number_count;
    return all<Real>().subspan(first, all<Real>().size() - first - (signature().has_table ? 1 : 0));
  }

 private:
  template <typename Real>
  // Parameters and table as one array, converted to Real.
  [[nodiscard]] std::span<const Real> all() const noexcept;

  std::size_t number_;
  std::vector<double> wide_;
  std::vector<float> single_;
};

template <>
inline std::span<const double> Kernel::all<double>() const noexcept {
  return wide_;
}
template <>
inline std::span<const float> Kernel::all<float>() const noexcept {
  return single_;
}

}  // namespace oneiros
