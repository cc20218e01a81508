// Conversion of NumPy arrays: the only place where dtype, shape and layout are checked.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace oneiros {

namespace py = pybind11;

// The str() of an object, for messages.
inline std::string text(const py::handle& object) { return py::str(object).cast<std::string>(); }

// Throws TypeError unless `array` contains T in native byte order, ValueError unless it is aligned.
template <typename T>
void require_dtype(const py::array& array, const std::string& name) {
  if (!py::isinstance<py::array_t<T>>(array)) {
    throw py::type_error(name + ": expected " + text(py::dtype::of<T>()) + ", got " +
                         text(array.dtype()));
  }
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) {
    throw py::value_error(name + ": must be aligned; pass numpy.require(..., requirements=\"A\")");
  }
}

// A read-only span over `array`, never a copy: a silent conversion would cost more than most
// kernels. Throws TypeError for another dtype, ValueError for another shape or layout. The array
// must outlive the span, and Python code must not resize it meanwhile.
template <typename T>
std::span<const T> read_1d(const py::array& array, const std::string& name) {
  require_dtype<T>(array, name);
  if (array.ndim() != 1) {
    throw py::value_error(name + ": expected shape (n,), got " + text(array.attr("shape")));
  }
  if (array.size() > 1 && array.strides(0) != array.itemsize()) {
    throw py::value_error(name + ": must be contiguous; pass numpy.ascontiguousarray(...)");
  }
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

// Packed bits of rows, as Python gives them: bytes, or an array of uint8. None: no limit.
using GivenBits = std::optional<py::object>;

// A read-only span over bits. They must outlive it. Throws TypeError for other objects, and as
// read_1d.
inline std::span<const std::uint8_t> read_bits(const py::object& bits, const std::string& name) {
  if (PyBytes_Check(bits.ptr())) {  // needs no NumPy
    return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(bits.ptr())),
            static_cast<std::size_t>(PyBytes_GET_SIZE(bits.ptr()))};
  }
  if (!py::isinstance<py::array>(bits)) {
    throw py::type_error(name + ": expected bytes or an array of uint8, got " +
                         text(py::type::of(bits).attr("__name__")));
  }
  return read_1d<std::uint8_t>(py::reinterpret_borrow<py::array>(bits), name);
}

// A row-major matrix of `rows` rows. Does not own its values.
template <typename T>
struct Matrix {
  std::span<const T> values;
  std::size_t rows;
  std::size_t columns;
};

// As read_1d, for shape (n, d).
template <typename T>
Matrix<T> read_2d(const py::array& array, const std::string& name) {
  require_dtype<T>(array, name);
  if (array.ndim() != 2) {
    throw py::value_error(name + ": expected shape (n, d), got " + text(array.attr("shape")));
  }
  if (array.size() > 1 && (array.flags() & py::array::c_style) == 0) {
    throw py::value_error(name + ": must be contiguous; pass numpy.ascontiguousarray(...)");
  }
  return {{static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())},
          static_cast<std::size_t>(array.shape(0)),
          static_cast<std::size_t>(array.shape(1))};
}

// As read_1d, but writable and of `size` values: memory for results.
template <typename T>
std::span<T> write_1d(py::array& array, const std::string& name, std::size_t size) {
  const std::span<const T> values = read_1d<T>(array, name);
  if (values.size() != size) {
    throw py::value_error(name + ": expected shape (" + std::to_string(size) + ",), got " +
                          text(array.attr("shape")));
  }
  return {static_cast<T*>(array.mutable_data()), size};  // throws for a read-only array
}

// `out` if given, otherwise a new array; and a span over it.
template <typename T>
std::pair<py::array, std::span<T>> result_of(std::optional<py::array> out, std::size_t size) {
  py::array array = out ? std::move(*out) : py::array_t<T>(static_cast<py::ssize_t>(size));
  const std::span<T> values = write_1d<T>(array, "out", size);
  return {std::move(array), values};
}

// A Python number as T; None means NaN. Throws TypeError or ValueError for other objects and for
// values out of T's range.
template <typename T>
T number_of(PyObject* item, const std::string& name) {
  if constexpr (std::is_floating_point_v<T>) {
    if (item == Py_None) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    const double value = PyFloat_AsDouble(item);
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    return static_cast<T>(value);
  } else {
    const long long value = PyLong_AsLongLong(item);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    if (!std::in_range<T>(value)) {
      throw py::value_error(name + ": " + std::to_string(value) + " lies beyond its column");
    }
    return static_cast<T>(value);
  }
}

// Numbers in an array, viewed, or in a list or tuple, copied. For a few rows an array would take
// longer to make than everything else, and would load NumPy.
template <typename T>
class Numbers {
 public:
  Numbers(const py::handle& given, const std::string& name) {
    if (PyList_Check(given.ptr()) == 0 && PyTuple_Check(given.ptr()) == 0) {
      if (!py::isinstance<py::array>(given)) {
        throw py::type_error(name + ": expected an array, got " + text(py::type::of(given)));
      }
      array_ = py::reinterpret_borrow<py::object>(given);
      view_ = read_1d<T>(py::reinterpret_borrow<py::array>(given), name);
      return;
    }
    const py::tuple items(
        py::reinterpret_borrow<py::object>(given));  // a copy that no other thread can change
    copy_.reserve(items.size());
    for (const py::handle item : items) {
      copy_.push_back(number_of<T>(item.ptr(), name));
    }
  }

  std::span<const T> values() const { return array_ ? view_ : std::span<const T>(copy_); }

 private:
  py::object array_;
  std::span<const T> view_;
  std::vector<T> copy_;
};

// A new array with a copy of `values`.
template <typename T>
py::array_t<T> copied(const std::vector<T>& values) {
  // Created empty: pybind11 would create two arrays when given values, and copy one into the other.
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

// As copied, with shape (rows, columns).
template <typename T>
py::array_t<T> copied(const std::vector<T>& values, std::size_t rows, std::size_t columns) {
  return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)},
                        values.data());
}

// Calls body with a float or a double, according to the array's dtype. Throws TypeError for another
// dtype.
template <typename Body>
auto for_real(const py::array& array, const std::string& name, Body body) {
  if (py::isinstance<py::array_t<float>>(array)) {
    return body(float{});
  }
  if (py::isinstance<py::array_t<double>>(array)) {
    return body(double{});
  }
  throw py::type_error(name + ": expected float32 or float64, got " + text(array.dtype()));
}

// A read-only NumPy view of memory that `owner` keeps alive. The view shares ownership, so it may
// outlive the column and the engine. REQUIRES: the owner never moves its values.
template <typename T, typename Owner>
py::array_t<T> view_of(std::shared_ptr<const Owner> owner, std::span<const T> values) {
  using Share = std::shared_ptr<const Owner>;
  auto share = std::make_unique<Share>(std::move(owner));
  const py::capsule base(share.get(), [](void* held) { delete static_cast<Share*>(held); });
  static_cast<void>(share.release());  // now deleted by the capsule
  py::array_t<T> view(static_cast<py::ssize_t>(values.size()), values.data(), base);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace oneiros
