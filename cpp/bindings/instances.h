// Objects of bound classes are made whole, or not at all, where memory runs out.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

namespace oneiros {

namespace py = pybind11;

// Makes all classes of a module so. pybind11 notes each object in a table once it is made. If that
// throws in a constructor, pybind11 frees the object twice, or the exception leaves it through
// Python's code, which ends the process. So the note has a second try, with memory kept for it.
//
// REQUIRES: the objects of a class whose holder is a shared_ptr are made with that holder, as by
// shared_init. One that pybind11 made for a raw pointer would allocate, after the note.
void guard_instances(const py::module_& module);

// A constructor like py::init<Arguments...>, for a class whose holder is a shared_ptr.
template <typename Class, typename... Arguments>
auto shared_init() {
  return py::init([](Arguments... arguments) {
    return std::make_shared<Class>(std::forward<Arguments>(arguments)...);
  });
}

}  // namespace oneiros
