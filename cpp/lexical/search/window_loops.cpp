#include "lexical/search/window_loops.h"

#include "simd/path.h"

namespace oneiros::lexical {

namespace baseline {
extern const WindowLoops kWindowLoops;
}
namespace avx2 {
extern const WindowLoops kWindowLoops;
}
namespace avx512 {
extern const WindowLoops kWindowLoops;
}

const WindowLoops& window_loops() noexcept {
#if defined(__x86_64__)
  switch (simd_path()) {
    case SimdPath::avx512:
      return avx512::kWindowLoops;
    case SimdPath::avx2:
      return avx2::kWindowLoops;
    case SimdPath::baseline:
      break;
  }
#endif
  return baseline::kWindowLoops;
}

}  // namespace oneiros::lexical
