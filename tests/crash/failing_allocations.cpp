// Lets one allocation of the core fail: loaded before the C and C++ libraries (LD_PRELOAD), armed by number.
// Only calls from the core's own code count: Python, NumPy and FAISS may abort where memory runs out.
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
}

namespace {

std::atomic<long> g_left = -1;  // allocations until the one that fails; below 0: none does
std::atomic<bool> g_failed = false;
std::uintptr_t g_first = 0, g_end = 0;  // where the core is mapped

int find_core(dl_phdr_info* module, std::size_t, void*) {
  if (std::strstr(module->dlpi_name, "/_core.") == nullptr) {
    return 0;
  }
  std::uintptr_t end = 0;
  for (int number = 0; number < module->dlpi_phnum; ++number) {
    const auto& part = module->dlpi_phdr[number];
    if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > end) {
      end = part.p_vaddr + part.p_memsz;
    }
  }
  g_first = module->dlpi_addr;
  g_end = module->dlpi_addr + end;
  return 1;
}

bool fails(const void* caller) {
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  if (g_left.load(std::memory_order_relaxed) < 0 || place < g_first || place >= g_end) {
    return false;
  }
  if (g_left.fetch_sub(1) != 1) {
    return false;
  }
  g_left = -1;
  g_failed = true;
  return true;
}

void* allocated(std::size_t size, const void* caller) {
  void* const memory = fails(caller) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void* aligned(std::size_t alignment, std::size_t size, const void* caller) {
  void* const memory = fails(caller) ? nullptr : __libc_memalign(alignment, size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

// Returns whether the core was found.
int arm_failing_call(long at, int) {
  g_first = g_end = 0;
  dl_iterate_phdr(find_core, nullptr);
  g_failed = false;
  g_left = at;
  return g_end != 0;
}
void disarm_failing_call() { g_left = -1; }
int has_failed() { return g_failed; }

void* malloc(std::size_t size) { return fails(CALLER) ? nullptr : __libc_malloc(size); }
void* realloc(void* memory, std::size_t size) {
  return fails(CALLER) ? nullptr : __libc_realloc(memory, size);
}
char* strdup(const char* text) {
  const std::size_t size = std::strlen(text) + 1;
  void* const memory = fails(CALLER) ? nullptr : __libc_malloc(size);
  return memory == nullptr ? nullptr : static_cast<char*>(std::memcpy(memory, text, size));
}
}

void* operator new(std::size_t size) { return allocated(size, CALLER); }
void* operator new[](std::size_t size) { return allocated(size, CALLER); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return fails(CALLER) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return aligned(static_cast<std::size_t>(alignment), size, CALLER);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return aligned(static_cast<std::size_t>(alignment), size, CALLER);
}
