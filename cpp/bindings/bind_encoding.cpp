#include "bindings/registration.h"

namespace oneiros {

void register_encoding(py::module_& module) { static_cast<void>(module); }

}  // namespace oneiros
