// Letting go of the GIL, and taking it back, also while the interpreter ends.
//
// Before Python 3.14 a thread that asks for the GIL then is ended on the spot, by unwinding its
// stack: through destructors, which may not throw, so that the process would abort. As in 3.14,
// such a thread sleeps instead until the process is gone.
#pragma once

#include <pybind11/pybind11.h>

namespace oneiros {

// While it lives, other threads may run Python. REQUIRES: the caller holds the GIL.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// While it lives, the calling thread may run Python.
class HeldGil {
 public:
  HeldGil();
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Calls a Python function with one argument; null if it raises. A thread that the interpreter ends
// in the call sleeps here, so that the caller's Python objects are not released without the GIL.
[[nodiscard]] PyObject* call_python(PyObject* function, PyObject* argument);

}  // namespace oneiros
