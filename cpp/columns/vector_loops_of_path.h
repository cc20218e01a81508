// The loops over vectors, compiled once a SIMD path: vector_loops_<path>.cpp sets ONEIROS_PATH and
// its compiler flags, and includes this file. All functions here are local to that file or inlined.
//
// Four vectors are taken at a time. Their 32 lanes each stay in registers: all four share a load of
// the query with AVX-512 (8 of 32 registers), two with AVX2 (8 of 16), one with SSE. Each vector
// ends as four lanes, and the four are summed crosswise, which gives four products at once.

#include <cstddef>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "columns/vector_loops.h"
#include "simd/real.h"

namespace oneiros::ONEIROS_PATH {

extern const VectorLoops kVectorLoops;

namespace {

constexpr std::size_t kVectors = 4;  // at a time

#if defined(__SSE2__)

#if defined(__AVX512F__)
using Register = __m512;
constexpr std::size_t kShared = 4;  // vectors that share a load of the query
ONEIROS_ALWAYS_INLINE Register zero() { return _mm512_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm512_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm512_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) {
  const __m256 eight =
      _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
  return _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
}
#elif defined(__AVX2__)
using Register = __m256;
constexpr std::size_t kShared = 2;
ONEIROS_ALWAYS_INLINE Register zero() { return _mm256_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm256_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm256_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) {
  return _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
}
#else
using Register = __m128;
constexpr std::size_t kShared = 1;
ONEIROS_ALWAYS_INLINE Register zero() { return _mm_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) { return lanes; }
#endif

constexpr std::size_t kWidth = sizeof(Register) / sizeof(float);
constexpr std::size_t kRegisters = kVectorLanes / kWidth;  // a vector

// The lanes of kShared vectors, four of each left.
ONEIROS_ALWAYS_INLINE void sum_lanes(const float* query, const float* const* vectors,
                                     std::size_t width, __m128* sums) {
  Register lanes[kShared][kRegisters];
  const float* from[kShared];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kShared; ++v) {
    from[v] = vectors[v];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRegisters; ++r) {
      lanes[v][r] = zero();
    }
  }
  for (std::size_t at = 0; at < width; at += kVectorLanes) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRegisters; ++r) {
      const Register part = load(query + at + r * kWidth);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kShared; ++v) {
        lanes[v][r] = add(lanes[v][r], multiply(part, load(from[v] + at + r * kWidth)));
      }
    }
  }
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kShared; ++v) {
#pragma GCC unroll 4
    for (std::size_t half = kRegisters / 2; half > 0; half /= 2) {
#pragma GCC unroll 4
      for (std::size_t r = 0; r < half; ++r) {
        lanes[v][r] = add(lanes[v][r], lanes[v][r + half]);
      }
    }
    sums[v] = four_lanes(lanes[v][0]);
  }
}

ONEIROS_ALWAYS_INLINE void four_products(const float* query, const float* const* vectors,
                                         std::size_t width, float* products) {
  __m128 sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; v += kShared) {
    sum_lanes(query, vectors + v, width, sums + v);
  }
  _MM_TRANSPOSE4_PS(sums[0], sums[1], sums[2], sums[3]);
  _mm_storeu_ps(products, _mm_add_ps(_mm_add_ps(sums[0], sums[2]), _mm_add_ps(sums[1], sums[3])));
}

#else

ONEIROS_ALWAYS_INLINE void four_products(const float* query, const float* const* vectors,
                                         std::size_t width, float* products) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    float lanes[kVectorLanes] = {};
    for (std::size_t at = 0; at < width; at += kVectorLanes) {
      for (std::size_t i = 0; i < kVectorLanes; ++i) {
        lanes[i] += query[at + i] * vectors[v][at + i];
      }
    }
    for (std::size_t half = kVectorLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        lanes[i] += lanes[i + half];
      }
    }
    products[v] = lanes[0];
  }
}

#endif

void products(const float* query, const float* const* vectors, std::size_t count, std::size_t width,
              float* products) {
  std::size_t i = 0;
  for (; i + kVectors <= count; i += kVectors) {
    four_products(query, vectors + i, width, products + i);
  }
  if (i == count) {
    return;
  }
  const float* rest[kVectors];
  float their_products[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    rest[v] = vectors[i + v < count ? i + v : i];
  }
  four_products(query, rest, width, their_products);
  for (std::size_t v = 0; i + v < count; ++v) {
    products[i + v] = their_products[v];
  }
}

}  // namespace

const VectorLoops kVectorLoops{.products = &products};

}  // namespace oneiros::ONEIROS_PATH
