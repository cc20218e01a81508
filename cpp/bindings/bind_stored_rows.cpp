// Rows of the store turned into objects of Python: whether their numbers lie in range, and one
// object a row without a call of its class. Both run with the GIL, over Python's own values.
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "bindings/stored_rows.h"

namespace oneiros {

namespace {

template <typename Values>
void require_as_many(const char* name, const Values& values, std::size_t expected) {
  if (values.size() != expected) {
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(expected) +
                                ", as many as places, got " + std::to_string(values.size()));
  }
}

// The numbers that some places of a row may hold.
class RowRanges {
 public:
  RowRanges(const std::vector<std::size_t>& places, const std::vector<double>& lows,
            const std::vector<double>& highs, const std::vector<bool>& nullable) {
    require_as_many("lows", lows, places.size());
    require_as_many("highs", highs, places.size());
    require_as_many("nullable", nullable, places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      ranges_.push_back({places[i], lows[i], highs[i], nullable[i]});
    }
  }

  [[nodiscard]] std::vector<std::size_t> outside(const py::list& list) const {
    const py::tuple rows = own_copy(list);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const Range& range : ranges_) {
        if (!range.holds(cell_of(rows[i], range.place))) {
          found.push_back(i);
          break;
        }
      }
    }
    return found;
  }

 private:
  struct Range {
    std::size_t place;
    double low;
    double high;
    bool is_nullable;

    // A text or bytes are no number, and lie outside of every range.
    [[nodiscard]] bool holds(PyObject* cell) const {
      if (cell == Py_None) {
        return is_nullable;
      }
      if (PyFloat_Check(cell)) {
        return is_between(PyFloat_AS_DOUBLE(cell));
      }
      if (PyLong_Check(cell)) {
        const long long value = PyLong_AsLongLong(cell);
        if (value == -1 && PyErr_Occurred() != nullptr) {
          throw py::error_already_set();
        }
        return is_between(static_cast<double>(value));
      }
      return false;
    }

    [[nodiscard]] bool is_between(double value) const { return low <= value && value <= high; }
  };

  std::vector<Range> ranges_;
};

// Makes objects of a class by filling its slots, so that __init__ and its arguments are spared.
class RowObjects {
 public:
  // Throws TypeError for a name that is no slot of the class.
  RowObjects(const py::type& type, const std::vector<std::string>& slots,
             const std::vector<std::size_t>& places, const std::vector<py::object>& converters)
      : type_(type) {
    require_as_many("slots", slots, places.size());
    require_as_many("converters", converters, places.size());
    const py::object members = type.attr("__dict__");
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!members.contains(slots[i]) ||
          !Py_IS_TYPE(py::object(members[slots[i].c_str()]).ptr(), &PyMemberDescr_Type)) {
        throw py::type_error("slots: the class has no slot '" + slots[i] + "'");
      }
      fields_.push_back({members[slots[i].c_str()], places[i], converters[i]});
    }
  }

  [[nodiscard]] py::list made(const py::list& list) const {
    const py::tuple rows = own_copy(list);
    py::list found(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[i] = made_of(rows[i]);
    }
    return found;
  }

 private:
  struct Field {
    py::object slot;
    std::size_t place;
    py::object converter;  // None: the cell is the value
  };

  [[nodiscard]] py::object made_of(py::handle row) const {
    auto* type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    auto made = py::reinterpret_steal<py::object>(type->tp_new(type, py::tuple(0).ptr(), nullptr));
    if (!made) {
      throw py::error_already_set();
    }
    for (const Field& field : fields_) {
      PyObject* cell = cell_of(row, field.place);
      py::object value = py::reinterpret_borrow<py::object>(cell);
      if (!field.converter.is_none()) {
        value = py::reinterpret_steal<py::object>(
            PyObject_CallFunctionObjArgs(field.converter.ptr(), cell, nullptr));
        if (!value) {
          throw py::error_already_set();
        }
      }
      // The slot itself, not setattr: a frozen class refuses that.
      if (Py_TYPE(field.slot.ptr())->tp_descr_set(field.slot.ptr(), made.ptr(), value.ptr()) != 0) {
        throw py::error_already_set();
      }
    }
    return made;
  }

  py::type type_;
  std::vector<Field> fields_;
};

}  // namespace

void register_stored_rows(py::module_& module) {
  py::class_<RowRanges>(module, "RowRanges")
      .def(py::init<const std::vector<std::size_t>&, const std::vector<double>&,
                    const std::vector<double>&, const std::vector<bool>&>(),
           py::kw_only(), py::arg("places"), py::arg("lows"), py::arg("highs"), py::arg("nullable"))
      .def("outside", &RowRanges::outside, py::kw_only(), py::arg("rows"),
           "The places in the list of rows that hold a number out of its range, or none.");
  py::class_<RowObjects>(module, "RowObjects")
      .def(py::init<const py::type&, const std::vector<std::string>&,
                    const std::vector<std::size_t>&, const std::vector<py::object>&>(),
           py::kw_only(), py::arg("type"), py::arg("slots"), py::arg("places"),
           py::arg("converters"))
      .def("made", &RowObjects::made, py::kw_only(), py::arg("rows"),
           "One object a row; the caller has verified the rows.");
}

}  // namespace oneiros
