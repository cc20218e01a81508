// GIL handling that survives interpreter shutdown; see gil.h.
#include "bindings/gil.h"

#include <chrono>
#include <thread>

namespace oneiros {

namespace {

// Sleeps forever when its destructor runs during unwinding.
class EndOfThread {
 public:
  EndOfThread() = default;
  ~EndOfThread() {
    while (is_ahead_) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;

  void pass() { is_ahead_ = false; }

 private:
  bool is_ahead_ = true;
};

// Separate functions, since the callers are noexcept: inside those nothing would be unwound.
__attribute__((noinline)) void take_back(PyThreadState* state) {
  EndOfThread end;
  PyEval_RestoreThread(state);
  end.pass();
}

__attribute__((noinline)) PyGILState_STATE take() {
  EndOfThread end;
  const PyGILState_STATE state = PyGILState_Ensure();
  end.pass();
  return state;
}

}  // namespace

ReleasedGil::~ReleasedGil() { take_back(state_); }

HeldGil::HeldGil() : state_(take()) {}

PyObject* call_python(PyObject* function, PyObject* argument) {
  EndOfThread end;
  PyObject* const result = PyObject_CallOneArg(function, argument);
  end.pass();
  return result;
}

PyObject* call_python_with(PyObject* function, PyObject* arguments) {
  EndOfThread end;
  PyObject* const result = PyObject_Call(function, arguments, nullptr);
  end.pass();
  return result;
}

}  // namespace oneiros
