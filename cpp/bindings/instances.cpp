#include "bindings/instances.h"

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

namespace oneiros {

namespace {

using InitInstance = void (*)(py::detail::instance*, const void*);

constexpr std::size_t kReserve = 64UL << 10U;

// pybind11's own functions, by class. Written by guard_instances only, before objects are made.
std::unordered_map<const PyTypeObject*, InitInstance>& functions() {
  static auto* const found = new std::unordered_map<const PyTypeObject*, InitInstance>;
  return *found;
}

std::mutex g_reserve_lock;
void* g_reserve = nullptr;

void keep_reserve() {
  const std::lock_guard lock(g_reserve_lock);
  if (g_reserve == nullptr) {
    g_reserve = std::malloc(kReserve);
  }
}

void free_reserve() {
  const std::lock_guard lock(g_reserve_lock);
  std::free(g_reserve);
  g_reserve = nullptr;
}

InitInstance function_of(const PyTypeObject* type) {
  for (; type != nullptr; type = type->tp_base) {  // a class of Python may derive from a bound one
    const auto found = functions().find(type);
    if (found != functions().end()) {
      return found->second;
    }
  }
  py::pybind11_fail("an object of no bound class");
}

void init_instance(py::detail::instance* instance, const void* holder) {
  const InitInstance init = function_of(Py_TYPE(reinterpret_cast<PyObject*>(instance)));
  try {
    init(instance, holder);
    return;
  } catch (const std::bad_alloc&) {  // nothing was noted
    free_reserve();
  }
  init(instance, holder);
  keep_reserve();
}

}  // namespace

void guard_instances(const py::module_& module) {
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
    if (!PyType_Check(value.ptr())) {
      continue;
    }
    auto* const type = reinterpret_cast<PyTypeObject*>(value.ptr());
    auto* const info = py::detail::get_type_info(type);
    if (info != nullptr && info->type == type && info->init_instance != &init_instance) {
      functions().emplace(type, info->init_instance);
      info->init_instance = &init_instance;
    }
  }
  keep_reserve();
}

}  // namespace oneiros
