#include "bindings/registration.h"

namespace oneiros {

void register_ranking(py::module_& module) { static_cast<void>(module); }

}  // namespace oneiros
