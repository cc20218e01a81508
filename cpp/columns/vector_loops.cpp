#include "columns/vector_loops.h"

#include "simd/path.h"

namespace oneiros {

namespace baseline {
extern const VectorLoops kVectorLoops;
}
namespace avx2 {
extern const VectorLoops kVectorLoops;
}
namespace avx512 {
extern const VectorLoops kVectorLoops;
}
namespace avx512vnni {
extern const VectorLoops kVectorLoops;
}

namespace {

const VectorLoops& loops_of(SimdPath path, [[maybe_unused]] bool with_vnni) noexcept {
#if defined(__x86_64__)
  switch (path) {
    case SimdPath::avx512:
      return with_vnni ? avx512vnni::kVectorLoops : avx512::kVectorLoops;
    case SimdPath::avx2:
      return avx2::kVectorLoops;
    case SimdPath::baseline:
      break;
  }
#endif
  return baseline::kVectorLoops;
}

bool has_vnni() noexcept {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("avx512vnni");
  return found;
#else
  return false;
#endif
}

}  // namespace

const VectorLoops& vector_loops() noexcept { return loops_of(simd_path(), has_vnni()); }

const VectorLoops& vector_loops_without_vnni() noexcept { return loops_of(simd_path(), false); }

}  // namespace oneiros
