#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "bindings/gil.h"
#include "bindings/registration.h"
#include "lexical/lexical_index.h"
#include "snapshot/snapshot_reader.h"

namespace oneiros {

namespace {

void save(LexicalIndex& index, const std::filesystem::path& path, std::string identity,
          const py::bytes& attachment, std::uint64_t revision) {
  SnapshotNotes notes{
      .identity = std::move(identity), .attachment = std::string(attachment), .revision = revision};
  const ReleasedGil nogil;
  index.save(path, notes);
}

py::tuple open(const std::filesystem::path& path, const std::string& identity,
               std::shared_ptr<Analyzer> analyzer, const std::string& variant, double k1, double b,
               double delta, std::optional<double> title_weight,
               std::optional<double> tags_weight) {
  LexicalIndex::Opened opened;
  {
    const ReleasedGil nogil;
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    opened = LexicalIndex::open(
        path, identity, std::move(analyzer),
        lexical::make_bm25(variant, k1, b, delta, title_weight, tags_weight), threads);
  }
  return py::make_tuple(std::shared_ptr<LexicalIndex>(std::move(opened.index)),
                        py::bytes(opened.notes.attachment), opened.notes.revision);
}

std::string identity_of(const std::filesystem::path& path) {
  const ReleasedGil nogil;
  return snapshot_identity(path);
}

// OSError with its number, so that Python tells a missing file from a full disk.
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
             "Writes a snapshot that open_lexical_index maps: whole or not at all.");
  module.def("open_lexical_index", &open, py::kw_only(), py::arg("path"), py::arg("identity"),
             py::arg("analyzer").none(false), py::arg("variant"), py::arg("k1"), py::arg("b"),
             py::arg("delta"), py::arg("title_weight") = py::none(),
             py::arg("tags_weight") = py::none(),
             "The index of a snapshot, its attachment and its revision; SnapshotDamaged unless all "
             "of it can be relied upon and the identity is its own.");
  module.def("snapshot_identity", &identity_of, py::kw_only(), py::arg("path"),
             "The identity that a snapshot was saved with.");
}

}  // namespace oneiros
