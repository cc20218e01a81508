// Rows of the store's tables as SQLite's module gives them to Python: tuples of cells.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>

namespace oneiros {

namespace py = pybind11;

// The cell at a place of a row, borrowed from it. Throws TypeError unless the row is a tuple,
// IndexError where it has no such place.
inline PyObject* cell_of(py::handle row, std::size_t place) {
  if (!PyTuple_Check(row.ptr())) {
    throw py::type_error("rows: expected tuples");
  }
  if (place >= static_cast<std::size_t>(PyTuple_GET_SIZE(row.ptr()))) {
    throw py::index_error("rows: a row has no place " + std::to_string(place));
  }
  return PyTuple_GET_ITEM(row.ptr(), static_cast<Py_ssize_t>(place));
}

}  // namespace oneiros
