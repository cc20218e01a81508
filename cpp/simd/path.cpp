// The path in use is one atomic, initialised to the best that the processor and operating system
// support.
#include "simd/path.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace oneiros {

namespace {

constexpr std::array<SimdPath, 3> kPaths{SimdPath::baseline, SimdPath::avx2, SimdPath::avx512};

std::size_t count_available() noexcept {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) {
    return 1;
  }
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_avx512 ? 3 : 2;
#else
  return 1;
#endif
}

std::atomic<SimdPath>& path_in_use() noexcept {
  static std::atomic<SimdPath> path = simd_paths().back();
  return path;
}

}  // namespace

std::span<const SimdPath> simd_paths() noexcept {
  static const std::size_t available = count_available();
  return std::span(kPaths).first(available);
}

SimdPath simd_path() noexcept { return path_in_use().load(std::memory_order_relaxed); }

void use_simd_path(std::string_view name) {
  std::string known;
  for (const SimdPath path : simd_paths()) {
    const std::string_view its_name = kSimdPathNames[static_cast<std::size_t>(path)];
    if (its_name == name) {
      path_in_use().store(path, std::memory_order_relaxed);
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  throw std::invalid_argument("SIMD path: this machine runs " + known + ", got \"" +
                              std::string(name) + "\"");
}

void use_simd_path_of_environment() {
  const char* name = std::getenv("ONEIROS_SIMD");
  if (name != nullptr && *name != '\0') {
    use_simd_path(name);
  }
}

}  // namespace oneiros
