// Copies of the caller's lists and dicts, safe to iterate.
//
// Iterating a list or dict borrows its items. Another thread of a free-threaded interpreter, or
// Python code called by the loop in any interpreter, may remove them meanwhile. A copy is made in
// one step and holds references to the items. Copies are shallow and take a few dozen nanoseconds
// for short lists.
#pragma once

#include <pybind11/pybind11.h>

namespace oneiros {

namespace py = pybind11;

inline py::tuple own_copy(const py::list& list) { return py::tuple(list); }

inline py::dict own_copy(const py::dict& dict) {
  PyObject* const copy = PyDict_Copy(dict.ptr());
  if (copy == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::dict>(copy);
}

}  // namespace oneiros
