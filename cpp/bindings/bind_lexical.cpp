#include "bindings/registration.h"

namespace oneiros {

void register_lexical(py::module_& module) { static_cast<void>(module); }

}  // namespace oneiros
