// Binding of lifecycle columns. Reads return read-only views that share ownership of the columns;
// writes validate names, dtypes, lengths and values first and are all or nothing.
#include <memory>
#include <new>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "columns/most_accessed.h"

namespace oneiros {

namespace {

using AnyNumbers =
    std::variant<Numbers<std::uint8_t>, Numbers<std::uint16_t>, Numbers<std::uint32_t>,
                 Numbers<std::int16_t>, Numbers<float>, Numbers<double>>;

// Columns and names given by Python, kept alive.
struct GivenColumns {
  std::vector<std::string> names;
  std::vector<AnyNumbers> numbers;
  std::vector<ColumnValues> values;
};

AnyNumbers read_column(const py::handle& given, const std::string& name, Column column) {
  return std::visit(
      [&](const auto& rule) -> AnyNumbers {
        using T = typename std::decay_t<decltype(rule)>::Value;
        return Numbers<T>(given, name);
      },
      kColumns[static_cast<std::size_t>(column)].rule);
}

GivenColumns read_columns(const py::dict& columns) {
  const py::dict values = own_copy(columns);
  GivenColumns given;
  given.names.reserve(values.size());  // `values` points into both
  given.numbers.reserve(values.size());
  for (const auto& [key, value] : values) {
    const std::string& name = given.names.emplace_back(key.cast<std::string>());
    const std::optional<Column> column = column_named(name);
    if (!column) {
      throw py::value_error(name + ": no column has this name");
    }
    const AnyNumbers& numbers = given.numbers.emplace_back(read_column(value, name, *column));
    std::visit([&](const auto& held) { given.values.push_back({name, held.values()}); }, numbers);
  }
  return given;
}

// Copied: the caller could change the array between the check of a row and its use.
std::vector<std::uint32_t> copied_rows(const py::handle& rows) {
  const Numbers<std::uint32_t> read(rows, "rows");
  return {read.values().begin(), read.values().end()};
}

void write_columns(Columns& columns, const py::object& rows, const py::dict& values) {
  const std::vector<std::uint32_t> where = copied_rows(rows);
  const GivenColumns given = read_columns(values);
  const ReleasedGil nogil;
  columns.write(where, given.values);
}

// If the system refuses memory, runs a garbage collection and calls `body` again. Columns of
// engines in reference cycles hold memory mappings, of which a process has a limited number, and a
// free-threaded interpreter rarely collects such cycles.
template <typename Body>
auto with_second_try(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    PyGC_Collect();
  }
  return body();
}

std::uint32_t append_rows(Columns& columns, std::size_t count) {
  return with_second_try([&] {
    const ReleasedGil nogil;
    return columns.append(count);
  });
}

py::array view(const std::shared_ptr<Columns>& columns, const std::string& name) {
  const std::optional<Column> column = column_named(name);
  if (!column) {
    throw py::value_error(name + ": no column has this name");
  }
  return std::visit(
      [&](auto values) -> py::array {
        using T = std::remove_const_t<typename decltype(values)::element_type>;
        return view_of<T>(std::shared_ptr<const Columns>(columns), values);
      },
      columns->values(*column));
}

// Some values as Python numbers: searches that reinforce read a few rows and need no NumPy.
py::list values_at(const Columns& columns, const std::string& name,
                   const std::vector<std::uint32_t>& rows) {
  const std::optional<Column> column = column_named(name);
  if (!column) {
    throw py::value_error(name + ": no column has this name");
  }
  return std::visit(
      [&](auto values) {
        py::list found;
        for (const std::uint32_t row : rows) {
          if (row >= values.size()) {
            throw py::index_error("rows: there is no row " + std::to_string(row));
          }
          found.append(values[row]);
        }
        return found;
      },
      columns.values(*column));
}

std::vector<std::int64_t> rows_of_sequences(const Columns& columns,
                                            const std::vector<std::int64_t>& sequences,
                                            std::size_t end) {
  const ReleasedGil nogil;
  return columns.rows_of_sequences(sequences, end);
}

template <typename T>
constexpr const char* dtype_name() {
  if constexpr (std::is_same_v<T, float>) {
    return "float32";
  } else if constexpr (std::is_same_v<T, double>) {
    return "float64";
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    return "int16";
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return "uint8";
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    return "uint16";
  } else {
    static_assert(std::is_same_v<T, std::uint32_t>);
    return "uint32";
  }
}

// Returned without NumPy, which an engine may not have loaded yet.
py::dict schema() {
  py::dict names;
  for (const ColumnInfo& column : kColumns) {
    const auto dtype = std::visit(
        [](const auto& rule) { return dtype_name<typename std::decay_t<decltype(rule)>::Value>(); },
        column.rule);
    names[py::str(std::string(column.name))] = py::str(dtype);
  }
  return names;
}

std::vector<std::uint32_t> most_accessed_rows(const Columns& columns, std::size_t count,
                                              const GivenBits& allowed) {
  std::span<const std::uint8_t> bits;
  if (allowed) {
    bits = read_bits(*allowed, "allowed");
  }
  const ReleasedGil nogil;
  return most_accessed(columns, count, allowed ? &bits : nullptr);
}

}  // namespace

void register_columns(py::module_& module) {
  py::class_<Columns, std::shared_ptr<Columns>>(
      module, "Columns",
      "Lifecycle state, one row per memory: every column of docs/systems/fields.md.")
      .def(py::init([] { return with_second_try([] { return std::make_shared<Columns>(); }); }))
      .def("__len__", &Columns::size)
      .def_property_readonly("capacity", &Columns::capacity, "The largest possible number of rows.")
      .def_static("schema", &schema, "The name and NumPy dtype name of each column.")
      .def("append", &append_rows, py::kw_only(), py::arg("count"),
           "Add rows with default values; return the first.")
      .def("write", &write_columns, py::kw_only(), py::arg("rows"), py::arg("values"),
           "Write one value per row to each named column, after checking all of them.")
      .def("view", &view, py::kw_only(), py::arg("name"),
           "A read-only view of a column's current rows. It never dangles.")
      .def("values_at", &values_at, py::kw_only(), py::arg("name"), py::arg("rows"),
           "The values of some rows as a list of numbers.")
      .def("rows_of_sequences", &rows_of_sequences, py::kw_only(), py::arg("sequences"),
           py::arg("end"),
           "The rows of numbers of the store among the first `end` rows, -1 where there is none.")
      .def("most_accessed", &most_accessed_rows, py::kw_only(), py::arg("count"),
           py::arg("allowed"),
           "The rows with the most accesses, at least one, among those allowed (packed bits; None: "
           "all).");
}

}  // namespace oneiros
