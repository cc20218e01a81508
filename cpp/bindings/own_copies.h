// Copies of the caller's lists and dicts, safe to iterate.
//
// Iterating a list or a dict borrows its items. A free-threaded interpreter may run a thread that
// removes them meanwhile, as any interpreter may once the loop calls Python code. The copies are
// made in one step and hold their items. They are shallow: as long as the original, a few dozen
// nanoseconds for the short ones that calls take.
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
