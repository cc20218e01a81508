// Stores past the cache, as one SIMD path makes them; part of kernels_of_path.h.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/real.h"

namespace oneiros::ONEIROS_PATH {

namespace {

#if defined(__AVX512F__)
using Line = __m512i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm512_stream_si512(static_cast<Line*>(into), _mm512_loadu_si512(from));
}
#elif defined(__AVX2__)
using Line = __m256i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm256_stream_si256(static_cast<Line*>(into), _mm256_loadu_si256(static_cast<const Line*>(from)));
}
#elif defined(__x86_64__)
using Line = __m128i;
ONEIROS_ALWAYS_INLINE void stream_line(void* into, const void* from) {
  _mm_stream_si128(static_cast<Line*>(into), _mm_loadu_si128(static_cast<const Line*>(from)));
}
#endif

template <typename Real>
void stream(const Real* from, Real* into, std::size_t size) {
  std::size_t i = 0;
#if defined(__x86_64__)
  constexpr std::size_t kPerLine = sizeof(Line) / sizeof(Real);
  while (i < size && reinterpret_cast<std::uintptr_t>(into + i) % sizeof(Line) != 0) {
    into[i] = from[i];
    ++i;
  }
  for (; i + kPerLine <= size; i += kPerLine) {
    stream_line(into + i, from + i);
  }
#endif
  for (; i < size; ++i) {
    into[i] = from[i];
  }
}

// Later stores, such as the one that says the work is done, come after the streamed ones.
void stream_end() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
