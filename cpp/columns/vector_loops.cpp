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

const VectorLoops& vector_loops() noexcept {
#if defined(__x86_64__)
  switch (simd_path()) {
    case SimdPath::avx512:
      return avx512::kVectorLoops;
    case SimdPath::avx2:
      return avx2::kVectorLoops;
    case SimdPath::baseline:
      break;
  }
#endif
  return baseline::kVectorLoops;
}

}  // namespace oneiros
