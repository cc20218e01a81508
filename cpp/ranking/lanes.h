// Compiles a function once for each width of SIMD register; the loader picks one at start. The bits
// are the same in all: no fused multiply-add, no reassociation.
#pragma once

#include <cstdint>
#include <type_traits>

namespace oneiros {

// A truth value as wide as a Real, so that a loop over both becomes SIMD.
template <typename Real>
using Truth = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;

}  // namespace oneiros

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ONEIROS_LANES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define ONEIROS_LANES
#endif
