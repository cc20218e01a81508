// Binding of the search for unused bytes in SQLite's pages, without the GIL.
#include <pybind11/stl.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/gil.h"
#include "bindings/registration.h"
#include "store/unused_bytes.h"

namespace oneiros {

namespace {

std::vector<std::pair<std::size_t, std::size_t>> found_in(const py::bytes& pages,
                                                          std::size_t page_size, bool begins_file) {
  if (!is_page_size(page_size)) {
    throw py::value_error("page_size: must be a power of two from 512 to 65536");
  }
  const std::string_view content(pages);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  const ReleasedGil nogil;
  for (const auto& [begin, end] :
       unused_bytes(std::as_bytes(std::span(content)), page_size, begins_file)) {
    ranges.emplace_back(begin, end);
  }
  return ranges;
}

}  // namespace

void register_unused_bytes(py::module_& module) {
  module.def("unused_bytes", &found_in, py::kw_only(), py::arg("pages"), py::arg("page_size"),
             py::arg("begins_file"),
             "Begin and end of the gap between cell pointers and cells of each page where it holds "
             "a byte other than zero; damaged pages have none.");
}

}  // namespace oneiros
