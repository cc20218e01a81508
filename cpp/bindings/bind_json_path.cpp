// Binding of paths in JSON: many objects at once, without the GIL.
#include <pybind11/stl.h>

#include <optional>
#include <stdexcept>

#include "bindings/gil.h"
#include "bindings/registration.h"
#include "encoding/json_path.h"

namespace oneiros {

namespace {

struct JsonValues {
  std::vector<std::uint32_t> places;
  std::string values = "[";
  std::vector<std::uint32_t> unclear;
};

// A view of a contiguous buffer of bytes or of uint64.
template <typename Item>
std::span<const Item> items_of(const py::buffer_info& info, const char* name) {
  if (info.ndim != 1 || info.itemsize != static_cast<py::ssize_t>(sizeof(Item)) ||
      (info.size > 1 && info.strides[0] != info.itemsize)) {
    throw py::value_error(std::string(name) + ": must be a contiguous buffer of " +
                          std::to_string(sizeof(Item)) + "-byte items");
  }
  return {static_cast<const Item*>(info.ptr), static_cast<std::size_t>(info.size)};
}

py::tuple json_values(const py::buffer& texts, const py::buffer& ends, std::size_t stride,
                      std::size_t offset, std::size_t first, std::size_t last,
                      std::vector<std::string> keys, const std::string& whole_key) {
  const py::buffer_info text_info = texts.request();
  const py::buffer_info end_info = ends.request();
  const auto bytes = items_of<char>(text_info, "texts");
  const auto all_ends = items_of<std::uint64_t>(end_info, "ends");
  if (stride == 0 || offset >= stride || first > last || last > all_ends.size() / stride) {
    throw py::value_error("first, last: must be in order and within ends");
  }
  if (keys.empty()) {
    throw py::value_error("keys: must not be empty");
  }
  const JsonPath path{std::move(keys), whole_key};
  JsonValues found;
  {
    const ReleasedGil nogil;
    for (std::size_t place = first; place < last; ++place) {
      const std::size_t number = place * stride + offset;
      const std::uint64_t start = number == 0 ? 0 : all_ends[number - 1];
      const std::uint64_t end = all_ends[number];
      if (start > end || end > bytes.size()) {
        throw std::invalid_argument("ends: text " + std::to_string(place) + " is out of bounds");
      }
      if (start == end) {
        continue;
      }
      const JsonFinding finding = find_json({bytes.data() + start, end - start}, path);
      if (finding.kind == JsonFinding::Kind::kUnclear) {
        found.unclear.push_back(static_cast<std::uint32_t>(place));
      } else if (finding.kind == JsonFinding::Kind::kValue) {
        if (!found.places.empty()) {
          found.values += ',';
        }
        found.places.push_back(static_cast<std::uint32_t>(place));
        found.values += finding.value;
      }
    }
    found.values += ']';
  }
  return py::make_tuple(found.places, py::bytes(found.values), found.unclear);
}

}  // namespace

void register_json_path(py::module_& module) {
  module.def("json_values", &json_values, py::kw_only(), py::arg("texts"), py::arg("ends"),
             py::arg("stride"), py::arg("offset"), py::arg("first"), py::arg("last"),
             py::arg("keys"), py::arg("whole_key"),
             "The values at a path in the JSON objects first to last: their places, a JSON list of "
             "the values, and the places of objects that must be parsed. Object n is the bytes of "
             "texts before ends[n * stride + offset] from the end before it on.");
}

}  // namespace oneiros
