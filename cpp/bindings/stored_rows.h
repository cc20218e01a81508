// Rows of the store's tables as SQLite's module gives them to Python: tuples of cells.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>

#include "store/cell.h"

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

// What a value of Python is in a table, as long as that lives. Throws TypeError for what no cell
// is, ValueError for a text that is not UTF-8, OverflowError for an integer beyond 64 bits.
[[nodiscard]] Cell as_cell(PyObject* value);

// A cell as a value of Python. Throws ValueError for a text that is not UTF-8.
[[nodiscard]] py::object as_object(const Cell& cell);

}  // namespace oneiros
