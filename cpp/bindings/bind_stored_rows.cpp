// Conversion of the store's rows to Python objects, one object per row without calling its class;
// and reading and writing of rows by the core.
//
// MemoryReader runs SQLite on a connection that apsw opened, with the GIL released: rows are read,
// verified (checksums, ranges) and copied, and only then converted. A few rows of a store in memory
// are read with the GIL held. Objects are made by filling the
// slots of a class directly, which skips __init__ and argument parsing and works for frozen
// classes. The caller closes the reader before the connection.
#include <pybind11/stl.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "association/stored_links.h"
#include "bindings/gil.h"
#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "bindings/stored_rows.h"
#include "store/data_version.h"
#include "store/link_reader.h"
#include "store/memory_writer.h"
#include "store/row_inserter.h"
#include "store/row_reader.h"

namespace oneiros {

// By type: None, float, int (also bool), str or bytes. Text and bytes are viewed, not copied.
Cell as_cell(PyObject* value) {
  if (value == Py_None) {
    return std::monostate();
  }
  if (PyFloat_Check(value)) {
    return PyFloat_AS_DOUBLE(value);
  }
  if (PyLong_Check(value)) {
    const long long number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) {
      throw py::error_already_set();
    }
    return static_cast<std::int64_t>(number);
  }
  if (PyUnicode_Check(value)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == nullptr) {
      throw py::error_already_set();
    }
    return std::string_view(text, static_cast<std::size_t>(size));
  }
  if (PyBytes_Check(value)) {
    return std::as_bytes(
        std::span(PyBytes_AS_STRING(value), static_cast<std::size_t>(PyBytes_GET_SIZE(value))));
  }
  throw py::type_error("cell: expected int, float, str, bytes or None, got " +
                       std::string(Py_TYPE(value)->tp_name));
}

OwnColumns own_columns(const py::list& columns, std::size_t width, std::size_t count) {
  OwnColumns made;
  const py::tuple given = own_copy(columns);
  if (given.size() != width) {
    throw py::value_error("columns: expected " + std::to_string(width) + ", got " +
                          std::to_string(given.size()));
  }
  for (std::size_t i = 0; i < width; ++i) {
    py::object column = given[i];
    CellColumn& cells = made.cells.emplace_back();
    if (!py::isinstance<py::list>(column)) {
      cells.push_back(as_cell(column.ptr()));
      made.values.push_back(std::move(column));
      continue;
    }
    py::tuple values = own_copy(py::reinterpret_borrow<py::list>(column));
    if (values.size() != count) {
      throw py::value_error("columns[" + std::to_string(i) + "]: expected " +
                            std::to_string(count) + " cells, got " + std::to_string(values.size()));
    }
    cells.reserve(count);
    for (const py::handle value : values) {
      cells.push_back(as_cell(value.ptr()));
    }
    made.values.push_back(std::move(values));
  }
  return made;
}

std::vector<std::int64_t> as_stored(std::span<const std::uint64_t> checksums) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(checksums.size());
  for (const std::uint64_t checksum : checksums) {
    numbers.push_back(std::bit_cast<std::int64_t>(checksum));
  }
  return numbers;
}

// Text must be valid UTF-8, which SQLite does not guarantee.
py::object as_object(const Cell& cell) {
  struct Visitor {
    PyObject* operator()(std::monostate /*none*/) const { return Py_NewRef(Py_None); }
    PyObject* operator()(std::int64_t value) const { return PyLong_FromLongLong(value); }
    PyObject* operator()(double value) const { return PyFloat_FromDouble(value); }
    PyObject* operator()(std::string_view text) const {
      return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
    }
    PyObject* operator()(std::span<const std::byte> bytes) const {
      return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                       static_cast<Py_ssize_t>(bytes.size()));
    }
  };
  auto made = py::reinterpret_steal<py::object>(std::visit(Visitor{}, cell));
  if (!made) {
    throw py::error_already_set();
  }
  return made;
}

namespace {

template <typename Values>
void require_as_many(const char* name, const Values& values, std::size_t expected) {
  if (values.size() != expected) {
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(expected) +
                                ", as many as places, got " + std::to_string(values.size()));
  }
}

// Creates objects of a class by filling its slots.
class RowObjects {
 public:
  // Throws TypeError for a name that is not a slot of the class or its bases.
  RowObjects(const py::type& type, const std::vector<std::string>& slots,
             const std::vector<std::size_t>& places, const std::vector<py::object>& converters)
      : type_(type) {
    require_as_many("slots", slots, places.size());
    require_as_many("converters", converters, places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      py::object slot = py::getattr(type, slots[i].c_str(), py::none());
      if (!Py_IS_TYPE(slot.ptr(), &PyMemberDescr_Type)) {
        throw py::type_error("slots: the class has no slot '" + slots[i] + "'");
      }
      fields_.push_back({std::move(slot), places[i], converters[i]});
    }
  }

  [[nodiscard]] py::list made(const py::list& list) const {
    const py::tuple rows = own_copy(list);
    py::list found(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[i] = made_of([row = py::handle(rows[i])](std::size_t place) {
        return py::reinterpret_borrow<py::object>(cell_of(row, place));
      });
    }
    return found;
  }

  // `value_at(place)` returns a Python value.
  template <typename ValueAt>
  [[nodiscard]] py::object made_of(const ValueAt& value_at) const {
    auto* type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    auto made = py::reinterpret_steal<py::object>(type->tp_new(type, py::tuple(0).ptr(), nullptr));
    if (!made) {
      throw py::error_already_set();
    }
    for (const Field& field : fields_) {
      field.set(made, value_at(field.place));
    }
    return made;
  }

  // Sets the slots of objects of the class. None, as a row or in one, leaves what is there.
  void fill(const py::list& objects, const py::list& list) const {
    const py::tuple filled = own_copy(objects);
    const py::tuple rows = own_copy(list);
    require_as_many("rows", rows, filled.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].is_none()) {
        continue;
      }
      for (const Field& field : fields_) {
        const py::handle value = cell_of(rows[i], field.place);
        if (!value.is_none()) {
          field.set(filled[i], py::reinterpret_borrow<py::object>(value));
        }
      }
    }
  }

 private:
  struct Field {
    py::object slot;
    std::size_t place;
    py::object converter;  // None: the cell is the value

    // By the slot's descriptor, not setattr, which a frozen class rejects.
    void set(py::handle object, py::object value) const {
      if (!converter.is_none()) {
        value = py::reinterpret_steal<py::object>(call_python(converter.ptr(), value.ptr()));
        if (!value) {
          throw py::error_already_set();
        }
      }
      if (Py_TYPE(slot.ptr())->tp_descr_set(slot.ptr(), object.ptr(), value.ptr()) != 0) {
        throw py::error_already_set();
      }
    }
  };

  py::type type_;
  std::vector<Field> fields_;
};

// A connection by its address, which apsw provides. Throws RuntimeError unless apsw's SQLite has
// loaded this library.
sqlite3* connection_at(std::uintptr_t address) {
  if (loaded_sqlite() == nullptr) {
    throw std::runtime_error("SQLite has not loaded the core as an extension");
  }
  return reinterpret_cast<sqlite3*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Runs SQLite, without the GIL unless it is to be held; re-raises exceptions of a Python file
// system or handler.
template <typename Body>
auto without_gil(Body body, bool is_held = false) {
  std::optional<decltype(body())> result;
  {
    std::optional<ReleasedGil> released;
    if (!is_held) {
      released.emplace();
    }
    result.emplace(body());
  }
  if (PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return *std::move(result);
}

// What to read of memories' rows; the id is among the kept cells.
struct MemoryQuery {
  std::shared_ptr<const RowQuery> rows;
  std::size_t id;  // its place among the kept cells
};

// Validates the description of a query against the number of columns.
MemoryQuery memory_query(std::string sql, std::size_t width,
                         const std::optional<std::vector<std::size_t>>& kept, std::size_t id,
                         std::vector<RowChecksum> checksums, std::optional<RowRanges> ranges) {
  RowQuery query{std::move(sql), width, {}, std::move(checksums), std::move(ranges)};
  if (kept) {
    query.kept = *kept;
  } else {
    query.kept.resize(width);
    std::iota(query.kept.begin(), query.kept.end(), std::size_t{0});
  }
  for (const std::size_t place : query.kept) {
    if (place >= width) {
      throw std::invalid_argument("kept: expected places below " + std::to_string(width) +
                                  ", got " + std::to_string(place));
    }
  }
  if (id >= query.kept.size()) {
    throw std::invalid_argument("id: expected a place below " + std::to_string(query.kept.size()) +
                                ", got " + std::to_string(id));
  }
  return {std::make_shared<const RowQuery>(std::move(query)), id};
}

// Reads memories on a connection of apsw, which closes this object first.
class MemoryReader {
 public:
  // Throws RuntimeError unless apsw's SQLite has loaded this library.
  MemoryReader(std::uintptr_t connection, const MemoryQuery& query, bool is_in_memory)
      : query_(query),
        is_in_memory_(is_in_memory),
        reader_(std::make_shared<RowReader>(connection_at(connection), query.rows)) {}

  // `type` is tuple, or a class derived from it that adds nothing to its instances.
  [[nodiscard]] py::list rows(const py::list& numbers, const py::list& ids, const py::type& type) {
    auto* const its_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    if (PyType_IsSubtype(its_type, &PyTuple_Type) == 0 ||
        its_type->tp_basicsize != PyTuple_Type.tp_basicsize ||
        its_type->tp_dictoffset != 0) {  // since Python 3.12 it adds nothing to the size
      throw py::type_error("type: must be a class of tuples without attributes");
    }
    return found(numbers, ids, [its_type](std::span<const Cell> row) -> py::object {
      auto made = py::reinterpret_steal<py::object>(
          its_type->tp_alloc(its_type, static_cast<Py_ssize_t>(row.size())));
      if (!made) {
        throw py::error_already_set();
      }
      for (std::size_t i = 0; i < row.size(); ++i) {
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), as_object(row[i]).release().ptr());
      }
      return made;
    });
  }

  [[nodiscard]] py::list objects(const py::list& numbers, const py::list& ids,
                                 const RowObjects& objects) {
    return found(numbers, ids, [&](std::span<const Cell> row) {
      return objects.made_of([row](std::size_t place) {
        if (place >= row.size()) {
          throw py::index_error("rows: a row has no place " + std::to_string(place));
        }
        return as_object(row[place]);
      });
    });
  }

  void close() { reader_.reset(); }

 private:
  // By number: the result of `make` for a valid row with the id, otherwise None.
  template <typename Make>
  [[nodiscard]] py::list found(const py::list& numbers, const py::list& given_ids, Make make) {
    const py::tuple ids = own_copy(given_ids);
    const std::vector<std::int64_t> wanted = numbers_of(own_copy(numbers));
    if (ids.size() != wanted.size()) {
      throw py::value_error("ids: expected " + std::to_string(wanted.size()) +
                            ", as many as numbers, got " + std::to_string(ids.size()));
    }
    const std::shared_ptr<RowReader> reader = reader_;  // close() may be called during the read
    if (reader == nullptr) {
      throw std::runtime_error("the reader is closed");
    }
    const bool is_short = is_in_memory_ && wanted.size() <= kFewRows;
    const ReadRows rows = without_gil([&] { return reader->read(wanted); }, is_short);
    py::list made(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::span<const Cell> row = rows[i];
      made[i] = !row.empty() && is_id(row[query_.id], ids[i]) ? made_or_none(make, row)
                                                              : py::object(py::none());
    }
    return made;
  }

  // No object is made of values the store cannot contain, such as JSON of another kind.
  template <typename Make>
  [[nodiscard]] static py::object made_or_none(Make& make, std::span<const Cell> row) {
    try {
      return make(row);
    } catch (const py::error_already_set& error) {
      if (error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) ||
          error.matches(PyExc_RecursionError)) {
        return py::none();
      }
      throw;
    }
  }

  static std::vector<std::int64_t> numbers_of(const py::tuple& numbers) {
    std::vector<std::int64_t> found;
    found.reserve(numbers.size());
    for (const py::handle number : numbers) {
      found.push_back(number.is_none() ? 0
                                       : number.cast<std::int64_t>());  // no row has the number 0
    }
    return found;
  }

  static bool is_id(const Cell& cell, py::handle id) {
    const auto* text = std::get_if<std::string_view>(&cell);
    Py_ssize_t size = 0;
    const char* wanted = PyUnicode_AsUTF8AndSize(id.ptr(), &size);
    if (wanted == nullptr) {
      PyErr_Clear();  // not an id of a memory
      return false;
    }
    return text != nullptr && *text == std::string_view(wanted, static_cast<std::size_t>(size));
  }

  // Read from memory in some 50 us. The others cannot use the only connection meanwhile, and to
  // wait for the GIL again takes as long when many threads want it.
  static constexpr std::size_t kFewRows = 16;

  MemoryQuery query_;
  bool is_in_memory_;
  std::shared_ptr<RowReader> reader_;
};

// Reads the data version on a connection of apsw, which closes this object first.
class BoundDataVersion {
 public:
  explicit BoundDataVersion(std::uintptr_t connection)
      : version_(std::make_shared<DataVersion>(connection_at(connection))) {}

  std::optional<std::int64_t> read() {
    const std::shared_ptr<DataVersion> version = version_;  // close() may be called during the read
    if (version == nullptr) {
      throw std::runtime_error("it is closed");
    }
    return without_gil([&] { return version->read(); });
  }

  void close() { version_.reset(); }

 private:
  std::shared_ptr<DataVersion> version_;
};

// Inserts rows on a connection of apsw, which closes this object first.
class BoundRowInserter {
 public:
  // Throws RuntimeError unless apsw's SQLite has loaded this library.
  BoundRowInserter(std::uintptr_t connection, std::string sql, const RowChecksum& checksum)
      : inserter_(
            std::make_shared<RowInserter>(connection_at(connection), std::move(sql), checksum)) {}

  // The checksums of the inserted rows, or SQLite's code and message.
  std::variant<std::vector<std::int64_t>, std::pair<int, std::string>> insert(
      const py::list& columns, std::size_t count) {
    const std::shared_ptr<RowInserter> inserter = inserter_;  // close() may be called meanwhile
    if (inserter == nullptr) {
      throw std::runtime_error("the inserter is closed");
    }
    const OwnColumns own = own_columns(columns, inserter->width(), count);
    std::vector<std::uint64_t> checksums(count);
    if (count == 0) {
      return std::vector<std::int64_t>();
    }
    const auto failure = without_gil([&] { return inserter->insert(own.cells, checksums); });
    if (failure) {
      return std::pair(failure->code, failure->message);
    }
    return as_stored(checksums);
  }

  void close() { inserter_.reset(); }

 private:
  std::shared_ptr<RowInserter> inserter_;
};

// Links given by column; the core's own reader makes the same without Python's objects.
StoredLinks stored_links(std::vector<std::int64_t> first, std::vector<std::int64_t> second,
                         std::vector<double> weight, std::vector<std::uint8_t> kind,
                         std::vector<double> created_seconds,
                         const std::vector<std::optional<double>>& last_seconds) {
  StoredLinks links{std::move(first), std::move(second),          std::move(weight),
                    std::move(kind),  std::move(created_seconds), {}};
  for (const std::optional<double>& last : last_seconds) {
    links.last_seconds.push_back(last.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  for (const std::size_t size : {links.second.size(), links.weight.size(), links.kind.size(),
                                 links.created_seconds.size(), links.last_seconds.size()}) {
    if (size != links.size()) {
      throw std::invalid_argument("links: expected columns of " + std::to_string(links.size()) +
                                  " values, got one of " + std::to_string(size));
    }
  }
  return links;
}

// Reads links on a connection of apsw, which closes this object first.
class BoundLinkReader {
 public:
  // Throws RuntimeError unless apsw's SQLite has loaded this library.
  BoundLinkReader(std::uintptr_t connection, std::string sql, const RowChecksum& checksum)
      : reader_(std::make_shared<LinkReader>(connection_at(connection), std::move(sql), checksum)) {
  }

  [[nodiscard]] std::optional<StoredLinks> read(std::int64_t after) {
    const std::shared_ptr<LinkReader> reader = reader_;  // close() may be called during the read
    if (reader == nullptr) {
      throw std::runtime_error("the reader is closed");
    }
    return without_gil([&] { return reader->read(after); });
  }

  void close() { reader_.reset(); }

 private:
  std::shared_ptr<LinkReader> reader_;
};

using SharedInsert = std::shared_ptr<MemoryInsert>;

SharedInsert memory_insert(std::string memory, std::string lifecycle,
                           const RowChecksum& memory_checksum,
                           const RowChecksum& lifecycle_checksum, std::string last_revision,
                           std::string next_sequence, std::string last_moment, std::string moment,
                           const RowChecksum& moment_checksum,
                           std::vector<std::pair<std::string, std::size_t>> obstacles) {
  auto made = std::make_shared<MemoryInsert>(MemoryInsert{std::move(memory),
                                                          std::move(lifecycle),
                                                          memory_checksum,
                                                          lifecycle_checksum,
                                                          std::move(last_revision),
                                                          std::move(next_sequence),
                                                          std::move(last_moment),
                                                          std::move(moment),
                                                          moment_checksum,
                                                          {}});
  for (auto& [sql, place] : obstacles) {
    if (place >= memory_checksum.salts().size()) {
      throw std::invalid_argument("obstacles: expected places below " +
                                  std::to_string(memory_checksum.salts().size()) + ", got " +
                                  std::to_string(place));
    }
    made->obstacles.push_back({std::move(sql), place});
  }
  return made;
}

// Holds a Python RLock, unless this or another thread holds it already.
class TakenLock {
 public:
  explicit TakenLock(const py::object& lock)
      : lock_(lock),
        is_taken_(!lock.attr("_is_owned")().cast<bool>() &&
                  lock.attr("acquire")(false).cast<bool>()) {}
  ~TakenLock() {
    if (is_taken_) {
      Py_XDECREF(PyObject_CallMethod(lock_.ptr(), "release", nullptr));
    }
  }
  TakenLock(const TakenLock&) = delete;
  TakenLock& operator=(const TakenLock&) = delete;

  [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

 private:
  const py::object& lock_;
  bool is_taken_;
};

// Stores memories on a connection of apsw, which closes this object first.
class BoundMemoryWriter {
 public:
  // Throws RuntimeError unless apsw's SQLite has loaded this library.
  BoundMemoryWriter(std::uintptr_t connection, const SharedInsert& insert, bool stops_when_full)
      : insert_(insert),
        writer_(
            std::make_unique<MemoryWriter>(connection_at(connection), insert, stops_when_full)) {}

  // Returns true if the memory was stored. While the lock is held, this thread runs no Python code
  // and thus no signal handler: an interrupted caller finds the lock free and the committed record
  // in `into`.
  bool insert(const py::list& memory, const py::list& lifecycle, std::int64_t last_revision,
              std::optional<double> time, py::dict record, py::list into, const py::object& lock) {
    const py::tuple own = own_copy(memory);
    const py::tuple states = own_copy(lifecycle);
    std::vector<Cell> own_cells = cells_of("memory", own, insert_->memory_checksum);
    std::vector<Cell> state_cells = cells_of("lifecycle", states, insert_->lifecycle_checksum);
    const TakenLock taken(lock);
    if (!taken.is_taken() || writer_ == nullptr) {
      return false;
    }
    std::optional<StoredAs> stored;
    {
      const ReleasedGil released;
      stored = writer_->insert(own_cells, state_cells, last_revision, time);
    }
    std::optional<py::error_already_set> raised;  // by a Python file system or handler
    if (PyErr_Occurred() != nullptr) {
      raised.emplace();
    }
    if (stored) {
      const auto number = [](std::uint64_t checksum) {
        return std::bit_cast<std::int64_t>(checksum);
      };
      record["sequence"] = stored->sequence;
      record["revision"] = stored->revision;
      record["own_revision"] = stored->revision;
      record["own_checksum"] = number(stored->memory_checksum);
      record["state_checksum"] = number(stored->lifecycle_checksum);
      into.append(record);
    }
    if (raised && !stored) {  // a failure after the commit was that of a checkpoint
      throw py::error_already_set(*raised);
    }
    return stored.has_value();
  }

  [[nodiscard]] std::optional<std::pair<int, std::string>> failure() const {
    if (writer_ == nullptr || !writer_->failure()) {
      return std::nullopt;
    }
    return std::pair(writer_->failure()->code, writer_->failure()->message);
  }

  void close() { writer_.reset(); }

 private:
  static std::vector<Cell> cells_of(const char* name, const py::tuple& values,
                                    const RowChecksum& checksum) {
    if (values.size() != checksum.salts().size()) {
      throw py::value_error(std::string(name) + ": expected " +
                            std::to_string(checksum.salts().size()) + " cells, got " +
                            std::to_string(values.size()));
    }
    std::vector<Cell> cells;
    cells.reserve(values.size());
    for (const py::handle value : values) {
      cells.push_back(as_cell(value.ptr()));
    }
    return cells;
  }

  SharedInsert insert_;
  std::unique_ptr<MemoryWriter> writer_;
};

}  // namespace

void register_stored_rows(py::module_& module) {
  py::class_<RowObjects>(module, "RowObjects")
      .def(py::init<const py::type&, const std::vector<std::string>&,
                    const std::vector<std::size_t>&, const std::vector<py::object>&>(),
           py::kw_only(), py::arg("type"), py::arg("slots"), py::arg("places"),
           py::arg("converters"))
      .def("made", &RowObjects::made, py::kw_only(), py::arg("rows"),
           "One object per row; the caller has verified the rows.")
      .def("fill", &RowObjects::fill, py::kw_only(), py::arg("objects"), py::arg("rows"),
           "Set the slots of objects, one row each. None, as a row or in one, leaves what is "
           "there.");
  module.def(
      "has_sqlite", [] { return loaded_sqlite() != nullptr; },
      "True if SQLite has loaded the core as an extension.");
  module.def(
      "sqlite_entry", [] { return reinterpret_cast<std::uintptr_t>(&sqlite3_oneiros_init); },
      "The address of the entry point by which SQLite loads the core as an extension.");
  py::class_<MemoryQuery>(module, "MemoryQuery")
      .def(py::init(&memory_query), py::kw_only(), py::arg("sql"), py::arg("width"),
           py::arg("kept"), py::arg("id"), py::arg("checksums"), py::arg("ranges"));
  py::class_<MemoryReader>(module, "MemoryReader")
      .def(py::init<std::uintptr_t, const MemoryQuery&, bool>(), py::kw_only(),
           py::arg("connection"), py::arg("query"), py::arg("is_in_memory"))
      .def("rows", &MemoryReader::rows, py::kw_only(), py::arg("numbers"), py::arg("ids"),
           py::arg("type") = py::type::of(py::tuple()),
           "The kept cells of rows by number, where valid and with the given ids; else None.")
      .def("objects", &MemoryReader::objects, py::kw_only(), py::arg("numbers"), py::arg("ids"),
           py::arg("objects"), "The same as objects.")
      .def("close", &MemoryReader::close, "Release the connection.");
  py::class_<BoundDataVersion>(module, "DataVersion")
      .def(py::init<std::uintptr_t>(), py::kw_only(), py::arg("connection"))
      .def("read", &BoundDataVersion::read,
           "A number that changes with every commit of others; None if it cannot be read.")
      .def("close", &BoundDataVersion::close, "Release the connection.");
  py::class_<BoundRowInserter>(module, "RowInserter")
      .def(py::init<std::uintptr_t, std::string, const RowChecksum&>(), py::kw_only(),
           py::arg("connection"), py::arg("sql"), py::arg("checksum"))
      .def(
          "insert", &BoundRowInserter::insert, py::kw_only(), py::arg("columns"), py::arg("count"),
          "Insert rows given by column, as RowChecksum.of_columns takes them. Their checksums; or, "
          "where SQLite refused one, its code and message: the rows before it are inserted.")
      .def("close", &BoundRowInserter::close, "Release the connection.");
  py::class_<StoredLinks>(module, "StoredLinks",
                          "Links by the sequence numbers of their ends; removed ones weigh 0.")
      .def(py::init(&stored_links), py::kw_only(), py::arg("first"), py::arg("second"),
           py::arg("weight"), py::arg("kind"), py::arg("created_seconds"), py::arg("last_seconds"))
      .def("__len__", &StoredLinks::size);
  py::class_<BoundLinkReader>(module, "LinkReader")
      .def(py::init<std::uintptr_t, std::string, const RowChecksum&>(), py::kw_only(),
           py::arg("connection"), py::arg("sql"), py::arg("checksum"))
      .def("read", &BoundLinkReader::read, py::kw_only(), py::arg("after"),
           "The links changed after a revision; None if one cannot be read or is damaged.")
      .def("close", &BoundLinkReader::close, "Release the connection.");
  py::class_<MemoryInsert, std::shared_ptr<MemoryInsert>>(module, "MemoryInsert")
      .def(py::init(&memory_insert), py::kw_only(), py::arg("memory"), py::arg("lifecycle"),
           py::arg("memory_checksum"), py::arg("lifecycle_checksum"), py::arg("last_revision"),
           py::arg("next_sequence"), py::arg("last_moment"), py::arg("moment"),
           py::arg("moment_checksum"), py::arg("obstacles"));
  py::class_<BoundMemoryWriter>(module, "MemoryWriter")
      .def(py::init<std::uintptr_t, const std::shared_ptr<MemoryInsert>&, bool>(), py::kw_only(),
           py::arg("connection"), py::arg("insert"), py::arg("stops_when_full"))
      .def("insert", &BoundMemoryWriter::insert, py::kw_only(), py::arg("memory"),
           py::arg("lifecycle"), py::arg("last_revision"), py::arg("time"), py::arg("record"),
           py::arg("into"), py::arg("lock"),
           "Store a memory; True if stored, all commits after last_revision being this object's. "
           "Then "
           "the record has its numbers and checksums, and is the last of the list.")
      .def_property_readonly(
          "failure", &BoundMemoryWriter::failure,
          "SQLite's code and message of the failure that ended writing for good, or None.")
      .def("close", &BoundMemoryWriter::close, "Release the connection.");
}

}  // namespace oneiros
