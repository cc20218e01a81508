// Binding of snapshots: saving and opening of lexical indexes and of stores.
//
// Saving collects the sections of columns, ids, vectors and other parts as references, then writes
// them with the GIL released; the caller prevents changes meanwhile. Opening maps the file,
// verifies checksums, and loads each part on access. Buffers given to Python keep the mapping
// alive.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "columns/stored_ids.h"
#include "columns/vector_column.h"
#include "conflicts/statement_column.h"
#include "lexical/index/lexical_index.h"
#include "snapshot/snapshot_reader.h"

namespace oneiros {

namespace {

// Snapshots are verified by all processors.
std::size_t all_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

void save(LexicalIndex& index, const std::filesystem::path& path, std::string identity,
          const py::bytes& attachment, std::uint64_t revision) {
  SnapshotNotes notes{
      .identity = std::move(identity), .attachment = std::string(attachment), .revision = revision};
  const ReleasedGil nogil;
  index.save(path, notes);
}

// Opens a lexical index over the mapped file; the analyzer must be new.
py::tuple open(const std::filesystem::path& path, const std::string& identity,
               std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25) {
  LexicalIndex::Opened opened;
  {
    const ReleasedGil nogil;
    opened = LexicalIndex::open(path, identity, std::move(analyzer), bm25, all_threads());
  }
  return py::make_tuple(std::shared_ptr<LexicalIndex>(std::move(opened.index)),
                        py::bytes(opened.notes.attachment), opened.notes.revision);
}

// Bytes given by Python. The buffer is referenced, not copied.
std::span<const std::byte> bytes_of(const py::bytes& bytes) {
  const std::string_view view(bytes);
  return std::as_bytes(std::span(view.data(), view.size()));
}

// Collects the sections of all parts, in the order of their kinds, and writes them in one file.
void save_store(LexicalIndex& index, const Columns& columns, const std::vector<py::str>& ids,
                const conflicts::StatementColumn& statements, const std::vector<py::bytes>& parts,
                const std::shared_ptr<VectorColumn>& vectors, const py::bytes& vector_graph,
                const std::filesystem::path& path, std::string identity, std::uint64_t revision) {
  std::vector<std::string_view> names;
  names.reserve(ids.size());
  for (const py::str& id : ids) {
    Py_ssize_t size = 0;
    const char* const start = PyUnicode_AsUTF8AndSize(id.ptr(), &size);
    if (start == nullptr) {
      throw py::error_already_set();
    }
    names.emplace_back(start, static_cast<std::size_t>(size));
  }
  SnapshotNotes notes{
      .identity = std::move(identity), .attachment = {}, .revision = revision, .sections = {}};
  std::vector<SnapshotSection> last;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    last.push_back({.kind = kind_at(SectionKind::kFirstPart, i), .bytes = bytes_of(parts[i])});
  }
  const std::span<const std::byte> graph = bytes_of(vector_graph);
  const ReleasedGil nogil;
  const StoredIds::Image image(names);
  notes.sections = image.sections();
  std::optional<VectorColumn::Image> vector_image;
  if (vectors) {
    vector_image.emplace(*vectors);
    const std::vector<SnapshotSection> own = vector_image->sections();
    notes.sections.insert(notes.sections.end(), own.begin(), own.end());
    notes.sections.push_back({.kind = SectionKind::kVectorGraph, .bytes = graph});
  }
  const conflicts::StatementColumn::Image statement_image(statements, names.size());
  const std::vector<SnapshotSection> stated = statement_image.sections();
  notes.sections.insert(notes.sections.end(), stated.begin(), stated.end());
  const std::vector<SnapshotSection> held = columns.sections();
  notes.sections.insert(notes.sections.end(), held.begin(), held.end());
  notes.sections.insert(notes.sections.end(), last.begin(), last.end());
  index.save(path, notes);
}

// Mapped values of a snapshot as a buffer, readable without NumPy.
struct StoredArray {
  std::shared_ptr<const void> owner;
  const void* values;
  std::size_t value_bytes;
  std::size_t count;
  std::string format;

  py::buffer_info buffer() const {
    return {const_cast<void*>(values),  // NOLINT(cppcoreguidelines-pro-type-const-cast): read only
            static_cast<py::ssize_t>(value_bytes),
            format,
            1,
            {static_cast<py::ssize_t>(count)},
            {static_cast<py::ssize_t>(value_bytes)},
            true};
  }
};

template <typename T>
StoredArray stored_array(Stored<T> stored) {
  const auto kept = std::make_shared<const Stored<T>>(std::move(stored));
  const std::span<const T> values = kept->elements();
  return {kept, values.data(), sizeof(T), values.size(), py::format_descriptor<T>::format()};
}

// A store's snapshot. Parts are loaded on access.
class StoreSnapshot {
 public:
  StoreSnapshot(const std::filesystem::path& path, const std::string& identity,
                const std::string& own_stamp)
      : reader_(path, all_threads(), own_stamp) {
    reader_.require_identity(identity);
  }

  bool is_own() const { return reader_.is_own(); }
  std::uint64_t revision() const { return reader_.revision(); }

  std::shared_ptr<LexicalIndex> lexical_index(std::shared_ptr<Analyzer> analyzer,
                                              const lexical::Bm25& bm25) const {
    const ReleasedGil nogil;
    return LexicalIndex::open(reader_, std::move(analyzer), bm25, all_threads());
  }
  std::shared_ptr<Columns> columns() const {
    const ReleasedGil nogil;
    auto columns = std::make_shared<Columns>();
    columns->read(reader_);
    return columns;
  }
  std::shared_ptr<StoredIds> ids() const {
    const ReleasedGil nogil;
    return std::make_shared<StoredIds>(reader_);
  }
  std::shared_ptr<conflicts::StatementColumn> statements(
      std::shared_ptr<conflicts::StatementReader> reader) const {
    const ReleasedGil nogil;
    return std::make_shared<conflicts::StatementColumn>(std::move(reader), reader_, all_threads());
  }
  // A column as saved.
  StoredArray column(const std::string& name) const {
    const std::optional<Column> column = column_named(name);
    if (!column) {
      throw py::value_error(name + ": no column has this name");
    }
    const auto place = static_cast<std::size_t>(*column);
    return std::visit(
        [&](const auto& rule) -> StoredArray {
          using T = typename std::decay_t<decltype(rule)>::Value;
          return stored_array(reader_.take<T>(kind_at(SectionKind::kFirstColumn, place), 0));
        },
        kColumns[place].rule);
  }
  bool has_vectors() const { return reader_.has(SectionKind::kVectorBlocks, 0); }
  std::shared_ptr<VectorColumn> vectors(std::size_t row_end) const {
    const ReleasedGil nogil;
    return VectorColumn::restored(reader_, row_end, all_threads());
  }
  StoredArray vector_graph() const {
    {
      const ReleasedGil nogil;
      reader_.check(SectionKind::kVectorGraph, 0, all_threads());
    }
    return stored_array(reader_.take<std::uint8_t>(SectionKind::kVectorGraph, 0));
  }
  StoredArray part(std::size_t place) const {
    if (place >= kMostParts) {
      throw py::value_error("place: no part is numbered so high");
    }
    return stored_array(reader_.take<std::uint8_t>(kind_at(SectionKind::kFirstPart, place), 0));
  }

 private:
  static constexpr std::size_t kMostParts = 1U << 16U;

  const SnapshotReader reader_;
};

std::string_view id_at(const StoredIds& ids, std::size_t row) {
  if (row >= ids.size()) {
    throw py::index_error("row: there is none");
  }
  return ids.at(row);
}

// Ids of many rows as a list of strings.
std::vector<std::string_view> ids_of(const StoredIds& ids, const std::vector<std::size_t>& rows) {
  std::vector<std::string_view> found;
  found.reserve(rows.size());
  for (const std::size_t row : rows) {
    found.push_back(id_at(ids, row));
  }
  return found;
}

std::vector<std::string_view> ids_between(const StoredIds& ids, std::size_t first,
                                          std::size_t last) {
  std::vector<std::string_view> found;
  for (std::size_t row = first; row < std::min(last, ids.size()); ++row) {
    found.push_back(ids.at(row));
  }
  return found;
}

std::string identity_of(const std::filesystem::path& path) {
  const ReleasedGil nogil;
  return snapshot_identity(path);
}

std::string stamp_of_file(const std::filesystem::path& path) {
  const ReleasedGil nogil;
  return file_stamp(path);
}

// OSError with its errno, so that Python distinguishes a missing file from a full disk.
void raise_os_error(const std::system_error& error) {
  py::object arguments = py::make_tuple(error.code().value(), error.code().message());
  PyErr_SetObject(PyExc_OSError, arguments.ptr());
}

}  // namespace

void register_snapshot(py::module_& module) {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is pybind11's
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) {
        std::rethrow_exception(thrown);
      }
    } catch (const SnapshotDamaged& error) {
      const py::object type = py::module_::import("oneiros.errors").attr("SnapshotDamaged");
      PyErr_SetString(type.ptr(), error.what());
    } catch (const std::system_error& error) {
      raise_os_error(error);
    }
  });
  module.def("save_lexical_index", &save, py::kw_only(), py::arg("index").none(false),
             py::arg("path"), py::arg("identity"), py::arg("attachment"), py::arg("revision"),
             "Write a snapshot for open_lexical_index, atomically.");
  module.def(
      "open_lexical_index", &open, py::kw_only(), py::arg("path"), py::arg("identity"),
      py::arg("analyzer").none(false), py::arg("bm25"),
      "The index of a snapshot, its attachment and its revision. Raises SnapshotDamaged unless all "
      "of it is valid and the identity matches.");
  py::class_<StoredIds, std::shared_ptr<StoredIds>>(
      module, "StoredIds", "The ids of rows and the rows of ids in a snapshot.")
      .def("__len__", &StoredIds::size)
      .def_property_readonly("known_count", &StoredIds::known_count,
                             "The number of rows with an id.")
      .def("at", &id_at, py::arg("row"), "The id of a row; empty if it has none.")
      .def("of", &ids_of, py::arg("rows"), "The ids of rows; empty for a row without one.")
      .def("between", &ids_between, py::arg("first"), py::arg("last"),
           "The ids of rows [first, last).")
      .def("find", &StoredIds::find, py::arg("id"), "The row of an id, or None.");
  py::class_<StoredArray>(module, "StoredArray", py::buffer_protocol(),
                          "Mapped values of a snapshot, readable by memoryview().")
      .def_buffer(&StoredArray::buffer);
  py::class_<StoreSnapshot>(module, "StoreSnapshot",
                            "A store's snapshot. Each part is loaded on access.")
      .def(py::init<const std::filesystem::path&, const std::string&, const std::string&>(),
           py::kw_only(), py::arg("path"), py::arg("identity"), py::arg("own_stamp"),
           py::call_guard<ReleasedGil>(),
           "Raises SnapshotDamaged if a checksum, except those of vectors and statements, or the "
           "identity is wrong. A file with this stamp was written here and is not validated "
           "further.")
      .def_property_readonly("is_own", &StoreSnapshot::is_own, "True if the file has the stamp.")
      .def_property_readonly("revision", &StoreSnapshot::revision,
                             "The revision it was saved with.")
      .def("lexical_index", &StoreSnapshot::lexical_index, py::kw_only(),
           py::arg("analyzer").none(false), py::arg("bm25"),
           "The lexical index over the mapped file.")
      .def("columns", &StoreSnapshot::columns, "The columns, mapped copy-on-write.")
      .def("ids", &StoreSnapshot::ids, "The ids, mapped.")
      .def(
          "statements", &StoreSnapshot::statements, py::kw_only(), py::arg("reader").none(false),
          "The statements, mapped. Raises SnapshotDamaged unless their checksum, compared here, is "
          "right.")
      .def("column", &StoreSnapshot::column, py::kw_only(), py::arg("name"),
           "A column as saved, read-only.")
      .def_property_readonly("has_vectors", &StoreSnapshot::has_vectors,
                             "True if it contains vectors.")
      .def("vectors", &StoreSnapshot::vectors, py::kw_only(), py::arg("row_end"),
           "The vectors, mapped copy-on-write. Raises SnapshotDamaged unless their checksum, "
           "compared here, is right, and their rows are below row_end.")
      .def("vector_graph", &StoreSnapshot::vector_graph,
           "The graph's bytes, read-only. Raises SnapshotDamaged unless their checksum, "
           "compared here, is right.")
      .def("part", &StoreSnapshot::part, py::kw_only(), py::arg("place"),
           "The bytes of a part, read-only.");
  module.def("save_store_snapshot", &save_store, py::kw_only(), py::arg("index").none(false),
             py::arg("columns").none(false), py::arg("ids"), py::arg("statements").none(false),
             py::arg("parts"), py::arg("vectors"), py::arg("vector_graph"), py::arg("path"),
             py::arg("identity"), py::arg("revision"),
             "Write a file for StoreSnapshot, atomically. Ids are by row, an empty one "
             "for none; the graph, which may be empty, is kept with vectors alone.");
  module.def("file_stamp", &stamp_of_file, py::kw_only(), py::arg("path"),
             "A stamp of the file's identity and state, which any write changes.");
  module.def("snapshot_identity", &identity_of, py::kw_only(), py::arg("path"),
             "The identity a snapshot was saved with.");
}

}  // namespace oneiros
