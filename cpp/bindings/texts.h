// Python strings as UTF-8.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <vector>

namespace oneiros {

namespace py = pybind11;

// The UTF-8 of a str, which must stay alive: without a copy if it is ASCII, otherwise cached by
// Python in the object.
std::string_view utf8_of(const py::handle& object, const std::string& name);

// Strings with references to the list's items, which stay alive whatever happens to the list.
struct Texts {
  py::tuple items;
  std::vector<std::string_view> views;
};

Texts read_texts(const py::list& list, const std::string& name);

}  // namespace oneiros
