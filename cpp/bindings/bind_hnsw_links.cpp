// Binding of HNSW links over NumPy arrays. Vectors are viewed without a copy.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "columns/hnsw_builder.h"

namespace oneiros {

namespace {

template <typename T>
std::vector<T> copy_of(const py::array& array, const std::string& name) {
  const std::span<const T> values = read_1d<T>(array, name);
  return {values.begin(), values.end()};
}

HnswLinks links_of(const py::array& levels, const py::array& neighbours, std::int32_t entry) {
  return {.levels = copy_of<std::uint8_t>(levels, "levels"),
          .neighbours = copy_of<std::int32_t>(neighbours, "neighbours"),
          .entry = entry};
}

NodeVectors vectors_of(const py::array& vectors) {
  const auto view_of = [&]<typename Component>(Component) {
    const Matrix<Component> read = read_2d<Component>(vectors, "vectors");
    if (read.columns == 0 || padded_width(read.columns) != read.columns) {
      throw py::value_error("vectors: expected a multiple of " + std::to_string(kVectorLanes) +
                            " components, got " + std::to_string(read.columns));
    }
    return NodeVectors(read.values, read.columns);
  };
  return py::isinstance<py::array_t<Rounded>>(vectors) ? view_of(Rounded{}) : view_of(float{});
}

constexpr std::size_t kNodesBetweenLooks = 256;  // at most some 0.1 s

// True if the function returned something true.
bool is_true(const py::function& function) {
  const auto answer =
      py::reinterpret_steal<py::object>(call_python_with(function.ptr(), py::tuple(0).ptr()));
  const int found = answer ? PyObject_IsTrue(answer.ptr()) : -1;
  if (found < 0) {
    throw py::error_already_set();
  }
  return found == 1;
}

// The links with those of all vectors; None if stopped.
py::object grown_links(const py::array& levels, const py::array& neighbours, std::int32_t entry,
                       const py::array& vectors, std::size_t breadth,
                       const py::function& is_stopped) {
  if (breadth == 0) {
    throw py::value_error("breadth: must be >= 1, got 0");
  }
  HnswLinks links = links_of(levels, neighbours, entry);
  const NodeVectors all = vectors_of(vectors);
  {
    const ReleasedGil nogil;
    HnswBuilder builder(std::move(links), all, breadth);
    while (builder.size() < all.count()) {
      {
        const HeldGil gil;
        if (is_true(is_stopped)) {
          return py::none();
        }
      }
      builder.insert(all, std::min(builder.size() + kNodesBetweenLooks, all.count()));
    }
    links = std::move(builder).links();
  }
  return py::make_tuple(copied(links.levels), copied(links.neighbours), links.entry);
}

void check_links(const py::array& levels, const py::array& neighbours, std::int32_t entry) {
  const HnswLinks links = links_of(levels, neighbours, entry);
  const ReleasedGil nogil;
  links.require_sense();
}

}  // namespace

void register_hnsw_links(py::module_& module) {
  module.attr("HNSW_LINKS") = HnswLinks::kLinks;
  module.def("grown_hnsw_links", &grown_links, py::kw_only(), py::arg("levels"),
             py::arg("neighbours"), py::arg("entry"), py::arg("vectors"), py::arg("breadth"),
             py::arg("is_stopped"),
             "Links of a graph to which the vectors after its last are added: levels by node, "
             "neighbours by node and level, and the entry. `vectors` are those of all nodes, "
             "float32 or the bits of float16, with zeros up to a multiple of 32 components. None "
             "if is_stopped(), which is called a few times a second, returned true.");
  module.def("check_hnsw_links", &check_links, py::kw_only(), py::arg("levels"),
             py::arg("neighbours"), py::arg("entry"),
             "Raise ValueError unless walks along the links stay within the graph.");
}

}  // namespace oneiros
