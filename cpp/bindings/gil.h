// Releasing and acquiring the GIL, safe during interpreter shutdown.
//
// Before Python 3.14, a thread that requests the GIL during shutdown is terminated by unwinding its
// stack, through destructors that may not throw, which aborts the process. As in 3.14, such a
// thread sleeps here instead until the process ends.
#pragma once

#include <pybind11/pybind11.h>

namespace oneiros {

// Releases the GIL for its lifetime. REQUIRES: the caller holds the GIL.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the GIL for its lifetime.
class HeldGil {
 public:
  HeldGil();
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Calls a Python function with one argument; null if it raises. A thread terminated by the
// interpreter in the call sleeps here, so that the caller's Python objects are not released without
// the GIL.
[[nodiscard]] PyObject* call_python(PyObject* function, PyObject* argument);

// As call_python, with a tuple of arguments.
[[nodiscard]] PyObject* call_python_with(PyObject* function, PyObject* arguments);

}  // namespace oneiros
