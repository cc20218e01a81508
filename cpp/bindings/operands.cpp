// Conversion and overlap checks of operands. Overlap is decided by address ranges.
#include "bindings/operands.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bindings/own_copies.h"

namespace oneiros {

namespace {

std::optional<ElementType> signed_type(py::ssize_t bytes) {
  switch (bytes) {
    case 1:
      return ElementType::i8;
    case 2:
      return ElementType::i16;
    case 4:
      return ElementType::i32;
    case 8:
      return ElementType::i64;
    default:
      return std::nullopt;
  }
}

std::optional<ElementType> element_type(const py::dtype& dtype) {
  const char order = dtype.byteorder();
  if (order != '=' && order != '|') {
    return std::nullopt;
  }
  const py::ssize_t bytes = dtype.itemsize();
  switch (dtype.kind()) {
    case 'f':
      return bytes == 4   ? std::optional(ElementType::f32)
             : bytes == 8 ? std::optional(ElementType::f64)
                          : std::nullopt;
    case 'b':
      return ElementType::u8;
    case 'i':
      return signed_type(bytes);
    case 'u':
      if (const auto type = signed_type(bytes)) {
        return static_cast<ElementType>(static_cast<unsigned>(*type) + 1);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool shares_memory(const py::array& result, const Operand& operand) {
  const auto begin = reinterpret_cast<std::uintptr_t>(result.data());
  const auto end = begin + static_cast<std::uintptr_t>(result.nbytes());
  const auto first = reinterpret_cast<std::uintptr_t>(operand.values);
  const std::size_t bytes = kElementBytes[static_cast<std::size_t>(operand.type)];
  return first < end && begin < first + operand.count * bytes;
}

}  // namespace

Operand operand_of(const py::array& array, const std::string& name) {
  const std::optional<ElementType> type = element_type(array.dtype());
  if (!type) {
    throw py::type_error(name + ": expected float32, float64, an integer or bool, got " +
                         text(array.dtype()));
  }
  if (array.ndim() != 1) {
    throw py::value_error(name + ": expected shape (n,), got " + text(array.attr("shape")));
  }
  if (array.size() > 1 && array.strides(0) != array.itemsize()) {
    throw py::value_error(name + ": must be contiguous; pass numpy.ascontiguousarray(...)");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  if (address % static_cast<std::uintptr_t>(array.itemsize()) != 0) {
    throw py::value_error(name + ": must be aligned; pass numpy.require(..., requirements=\"A\")");
  }
  return {*type, array.data(), static_cast<std::size_t>(array.size())};
}

KernelParameters parameters_of(const py::dict& parameters) {
  KernelParameters values;
  for (const auto& [key, value] : own_copy(parameters)) {
    const auto name = key.cast<std::string>();
    try {
      if (py::isinstance<py::sequence>(value)) {
        values[name] = value.cast<std::vector<double>>();
      } else {
        values[name] = {value.cast<double>()};
      }
    } catch (const py::cast_error&) {
      throw py::type_error(name + ": expected a number or a list of numbers, got " +
                           text(py::type::of(value)));
    }
  }
  return values;
}

unsigned checked_threads(unsigned threads) {
  constexpr unsigned kMostThreads = 256;
  if (threads < 1 || threads > kMostThreads) {
    throw py::value_error("threads: must be in 1 to 256, got " + std::to_string(threads));
  }
  return threads;
}

void refuse_overlap(const py::array& result, const Operand& operand, const std::string& name) {
  const auto type = element_type(result.dtype());
  const bool is_same = result.data() == operand.values && type == operand.type &&
                       operand.count == static_cast<std::size_t>(result.size());
  if (shares_memory(result, operand) && !is_same) {
    throw py::value_error(name + ": shares memory with out, but is not out itself");
  }
}

void refuse_sharing(const py::array& result, const Operand& operand, const std::string& name) {
  if (shares_memory(result, operand)) {
    throw py::value_error(name + ": must share no memory with out");
  }
}

}  // namespace oneiros
