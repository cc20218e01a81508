// Rows of the store as SQLite's Python modules pass them: tuples of cells.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/cell.h"
#include "store/row_inserter.h"

namespace oneiros {

namespace py = pybind11;

// The cell at an index of a row, referring to it. Throws TypeError unless the row is a tuple,
// IndexError if it has no such index.
inline PyObject* cell_of(py::handle row, std::size_t place) {
  if (!PyTuple_Check(row.ptr())) {
    throw py::type_error("rows: expected tuples");
  }
  if (place >= static_cast<std::size_t>(PyTuple_GET_SIZE(row.ptr()))) {
    throw py::index_error("rows: a row has no place " + std::to_string(place));
  }
  return PyTuple_GET_ITEM(row.ptr(), static_cast<Py_ssize_t>(place));
}

// A Python value as a cell; valid as long as the value. Throws TypeError for unsupported types,
// ValueError for text that is not UTF-8, OverflowError for integers beyond 64 bits.
[[nodiscard]] Cell as_cell(PyObject* value);

// Rows given by column, with references to the Python values that the cells view.
struct OwnColumns {
  std::vector<py::object> values;
  std::vector<CellColumn> cells;
};

// Columns of `count` rows: a list with a cell per row, or any other value as the cell of all rows.
// Throws as as_cell does, and ValueError unless there are `width` columns of `count` cells.
[[nodiscard]] OwnColumns own_columns(const py::list& columns, std::size_t width, std::size_t count);

// Checksums as SQLite stores them.
[[nodiscard]] std::vector<std::int64_t> as_stored(std::span<const std::uint64_t> checksums);

// A cell as a Python value. Throws ValueError for text that is not UTF-8.
[[nodiscard]] py::object as_object(const Cell& cell);

}  // namespace oneiros
