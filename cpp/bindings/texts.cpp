// Reading of Python strings. References are taken before a view is used, so that another thread
// cannot free a string meanwhile.
#include "bindings/texts.h"

#include "bindings/arrays.h"

namespace oneiros {

namespace {

[[noreturn]] void raise(const char* exception, const std::string& message) {
  const py::object type = py::module_::import("oneiros.errors").attr(exception);
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

}  // namespace

std::string_view utf8_of(const py::handle& object, const std::string& name) {
  if (!PyUnicode_Check(object.ptr())) {
    throw py::type_error(name + ": expected str, got " +
                         text(py::type::handle_of(object).attr("__name__")));
  }
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (bytes == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) {
      throw py::error_already_set();
    }
    PyErr_Clear();
    raise("TextEncodingError", name + ": must have no lone surrogates");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

Texts read_texts(const py::list& list, const std::string& name) {
  Texts texts{.items = py::tuple(list), .views = {}};
  texts.views.reserve(texts.items.size());
  for (const py::handle item : texts.items) {
    texts.views.push_back(utf8_of(item, name + "[" + std::to_string(texts.views.size()) + "]"));
  }
  return texts;
}

}  // namespace oneiros
