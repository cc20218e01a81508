// Checksums and ranges of rows over Python values, as SQLite passes them. Runs with the GIL;
// callers pass some hundred rows at a time.
#include <pybind11/stl.h>

#include <bit>
#include <string>
#include <vector>

#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "bindings/stored_rows.h"
#include "store/row_checks.h"

namespace oneiros {

namespace {

std::uint64_t checksum_of(std::uint64_t salt, PyObject* value) {
  return cell_checksum(salt, as_cell(value));
}

std::uint64_t number_of(PyObject* value) {
  const long long number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return static_cast<std::uint64_t>(number);
}

PyObject* as_int(std::uint64_t checksum) {
  return PyLong_FromLongLong(std::bit_cast<std::int64_t>(checksum));
}

// SQLite calls the two functions below for each row it writes. They are plain CPython functions,
// since pybind11's dispatch would take longer than the checksum.
template <typename Body>
PyObject* guarded(Body body) {
  try {
    return as_int(body());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* row_checksum(PyObject* /*module*/, PyObject* const* cells, Py_ssize_t count) {
  return guarded([&] {
    if (count % 2 != 0) {
      throw py::type_error("row_checksum: expected pairs of a salt and a cell");
    }
    std::uint64_t checksum = 0;
    for (Py_ssize_t i = 0; i < count; i += 2) {
      checksum ^= checksum_of(number_of(cells[i]), cells[i + 1]);
    }
    return checksum;
  });
}

PyObject* row_checksum_after(PyObject* /*module*/, PyObject* const* cells, Py_ssize_t count) {
  return guarded([&] {
    if (count % 3 != 1) {
      throw py::type_error(
          "row_checksum_after: expected a checksum, then a salt, the old and the new cell of each "
          "column that changes");
    }
    std::uint64_t checksum = number_of(cells[0]);
    for (Py_ssize_t i = 1; i < count; i += 3) {
      const std::uint64_t salt = number_of(cells[i]);
      checksum ^= checksum_of(salt, cells[i + 1]) ^ checksum_of(salt, cells[i + 2]);
    }
    return checksum;
  });
}

PyMethodDef kFunctions[] = {
    {"row_checksum", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&row_checksum)),
     METH_FASTCALL, "row_checksum(salt, cell, ...): the checksum of a row's cells."},
    {"row_checksum_after",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&row_checksum_after)),
     METH_FASTCALL,
     "row_checksum_after(checksum, salt, old, new, ...): a row's checksum after cells "
     "changed."},
    {nullptr, nullptr, 0, nullptr}};

// A function from an index to the cell of a Python row.
auto cells_of(py::handle row) {
  return [row](std::size_t place) { return as_cell(cell_of(row, place)); };
}

std::vector<std::int64_t> checksums_of(const RowChecksum& check, const py::list& list) {
  const py::tuple rows = own_copy(list);
  std::vector<std::int64_t> found;
  found.reserve(rows.size());
  for (const py::handle row : rows) {
    found.push_back(std::bit_cast<std::int64_t>(check.of(cells_of(row))));
  }
  return found;
}

// The same for rows given by column, in the order of the check's columns.
std::vector<std::int64_t> checksums_of_columns(const RowChecksum& check, const py::list& given,
                                               std::size_t count) {
  const OwnColumns columns = own_columns(given, check.salts().size(), count);
  std::vector<std::uint64_t> checksums(count);
  checksums_by_column(check, columns.cells, checksums);
  return as_stored(checksums);
}

// The indices of the rows for which a check fails.
template <typename Check>
std::vector<std::size_t> failing(const py::list& list, Check check) {
  const py::tuple rows = own_copy(list);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!check(cells_of(rows[i]))) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

void register_row_checksum(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) {
    throw py::error_already_set();
  }
  module.def(
      "column_salt",
      [](const std::string& name) { return std::bit_cast<std::int64_t>(column_salt(name)); },
      py::kw_only(), py::arg("name"),
      "The hash of a column's name that salts its cells' checksums.");
  py::class_<RowChecksum>(module, "RowChecksum")
      .def(py::init([](const std::vector<std::string>& columns, std::vector<std::size_t> places,
                       std::size_t checksum_place) {
             return RowChecksum(columns, std::move(places), checksum_place);
           }),
           py::kw_only(), py::arg("columns"), py::arg("places"), py::arg("checksum_place"))
      .def("of", &checksums_of, py::kw_only(), py::arg("rows"),
           "The checksums of rows given as tuples.")
      .def("of_columns", &checksums_of_columns, py::kw_only(), py::arg("columns"), py::arg("count"),
           "The checksums of rows given by column: lists of count cells; other values are the cell "
           "of all rows.")
      .def(
          "damaged",
          [](const RowChecksum& check, const py::list& rows) {
            return failing(rows, [&](const auto& cells) { return check.is_right(cells); });
          },
          py::kw_only(), py::arg("rows"), "The indices of the rows whose checksum is wrong.");
  py::class_<RowRanges>(module, "RowRanges")
      .def(py::init([](const std::vector<std::size_t>& places, const std::vector<double>& lows,
                       const std::vector<double>& highs, const std::vector<bool>& nullable) {
             return RowRanges(places, lows, highs, nullable);
           }),
           py::kw_only(), py::arg("places"), py::arg("lows"), py::arg("highs"), py::arg("nullable"))
      .def(
          "outside",
          [](const RowRanges& ranges, const py::list& rows) {
            return failing(rows, [&](const auto& cells) { return ranges.hold(cells); });
          },
          py::kw_only(), py::arg("rows"),
          "The indices of the rows with a missing number or one out of range.");
}

}  // namespace oneiros
