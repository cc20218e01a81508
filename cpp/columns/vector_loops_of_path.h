// The loops over vectors, compiled once per SIMD path: vector_loops_<path>.cpp defines
// ONEIROS_PATH, sets the compiler flags and includes this file. All functions here are local or
// inlined.
//
// Four vectors are processed at a time, their 32 lanes in registers: with AVX-512 all four share a
// load of the query (8 of 32 registers), with AVX2 two (8 of 16), with SSE one. Each vector is
// reduced to four lanes; a transpose then sums four vectors at once. Codes are widened to 16 bits
// and multiplied pairwise into 32-bit sums.

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "columns/vector_loops.h"
#include "simd/real.h"

namespace oneiros::ONEIROS_PATH {

extern const VectorLoops kVectorLoops;

namespace {

constexpr std::size_t kVectors = 4;  // vectors per step
// Vectors and codes are prefetched this many ahead.
template <typename Vector>
constexpr std::size_t kAhead = sizeof(Vector) == 1 ? 32 : 8;

#if defined(__SSE2__)

#if defined(__AVX512F__)
using Register = __m512;
// Wrappers of the path's registers, so that the loops below are written once.
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
using Integers = __m512i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm512_setzero_si512(); }
ONEIROS_ALWAYS_INLINE Integers load(const std::int16_t* from) { return _mm512_loadu_si512(from); }
ONEIROS_ALWAYS_INLINE Integers widened(const std::int8_t* from) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) {
  const __m256i eight =
      _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
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
using Integers = __m256i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm256_setzero_si256(); }
ONEIROS_ALWAYS_INLINE Integers load(const std::int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
ONEIROS_ALWAYS_INLINE Integers widened(const std::int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) {
  return _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
}
#else
using Register = __m128;
constexpr std::size_t kShared = 1;
ONEIROS_ALWAYS_INLINE Register zero() { return _mm_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) { return lanes; }
using Integers = __m128i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm_setzero_si128(); }
ONEIROS_ALWAYS_INLINE Integers load(const std::int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
ONEIROS_ALWAYS_INLINE Integers widened(const std::int8_t* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);  // the upper of two keeps the sign
}
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) { return lanes; }
#endif

constexpr std::size_t kWidth = sizeof(Register) / sizeof(float);
constexpr std::size_t kRegisters = kVectorLanes / kWidth;  // per vector

// Reduces the lanes of kShared vectors to four each.
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

// Four inner products at once; the loads of the query are shared.
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

ONEIROS_ALWAYS_INLINE void four_products(const std::int16_t* query, const std::int8_t* const* codes,
                                         std::size_t width, std::int32_t* products) {
  Integers lanes[kVectors];
  const std::int8_t* from[kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) {
    from[v] = codes[v];
    lanes[v] = no_integers();
  }
  constexpr std::size_t kComponents = sizeof(Integers) / sizeof(std::int16_t);
  for (std::size_t at = 0; at < width; at += kComponents) {
    const Integers part = load(query + at);
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) {
      lanes[v] = add_pairs(lanes[v], part, widened(from[v] + at));
    }
  }
  __m128i sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) {
    sums[v] = four_lanes(lanes[v]);
  }
  const __m128i first =
      _mm_add_epi32(_mm_unpacklo_epi32(sums[0], sums[1]), _mm_unpackhi_epi32(sums[0], sums[1]));
  const __m128i second =
      _mm_add_epi32(_mm_unpacklo_epi32(sums[2], sums[3]), _mm_unpackhi_epi32(sums[2], sums[3]));
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(products),
      _mm_add_epi32(_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second)));
}

#else

// Paths with fewer registers share loads among two vectors, or none.
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

ONEIROS_ALWAYS_INLINE void four_products(const std::int16_t* query, const std::int8_t* const* codes,
                                         std::size_t width, std::int32_t* products) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < width; ++i) {
      sum += static_cast<std::uint32_t>(std::int32_t{query[i]} * std::int32_t{codes[v][i]});
    }
    products[v] = static_cast<std::int32_t>(sum);
  }
}

#endif

// Codes are too short for the hardware prefetcher to recognise the forward read in time; and the
// vectors that codes leave over lie far apart.
template <typename Vector>
ONEIROS_ALWAYS_INLINE void prefetch(const Vector* const* vectors, std::size_t width) {
  constexpr std::size_t kLine = 64 / sizeof(Vector);
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t at = 0; at < width; at += kLine) {
      __builtin_prefetch(vectors[v] + at);
    }
  }
}

// Groups of four vectors; a last, incomplete group is filled with its first vector.
template <typename Query, typename Vector, typename Product>
ONEIROS_ALWAYS_INLINE void products_by_fours(const Query* query, const Vector* const* vectors,
                                             std::size_t count, std::size_t width,
                                             Product* products) {
  if constexpr (sizeof(Vector) == 1) {  // vectors are often few, and then in the cache
    for (std::size_t i = 0; i < kAhead<Vector> && i + kVectors <= count; i += kVectors) {
      prefetch(vectors + i, width);
    }
  }
  std::size_t i = 0;
  for (; i + kVectors <= count; i += kVectors) {
    if (i + kAhead<Vector> + kVectors <= count) {
      prefetch(vectors + i + kAhead<Vector>, width);
    }
    four_products(query, vectors + i, width, products + i);
  }
  if (i == count) {
    return;
  }
  const Vector* rest[kVectors];
  Product their_products[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    rest[v] = vectors[i + v < count ? i + v : i];
  }
  four_products(query, rest, width, their_products);
  for (std::size_t v = 0; i + v < count; ++v) {
    products[i + v] = their_products[v];
  }
}

// See VectorLoops.
void products(const float* query, const float* const* vectors, std::size_t count, std::size_t width,
              float* products) {
  products_by_fours(query, vectors, count, width, products);
}

void code_products(const std::int16_t* query, const std::int8_t* const* codes, std::size_t count,
                   std::size_t width, std::int32_t* products) {
  products_by_fours(query, codes, count, width, products);
}

// Sums in lanes, so that the compiler vectorises the loops.
EncodedVector encode(const float* vector, std::size_t width, std::int8_t* codes) {
  std::int32_t largest_bits = 0;  // of magnitudes, whose bits are ordered like their values
  for (std::size_t i = 0; i < width; ++i) {
    const auto bits = static_cast<std::int32_t>(bits_of(magnitude_of(vector[i])));
    largest_bits = bits > largest_bits ? bits : largest_bits;
  }
  const float scale = real_of<float>(static_cast<std::uint32_t>(largest_bits)) / 127.0F;
  const float steps = 1.0F / scale;
  float squares[kVectorLanes] = {};
  float residual_squares[kVectorLanes] = {};
  for (std::size_t at = 0; at < width; at += kVectorLanes) {
    for (std::size_t i = 0; i < kVectorLanes; ++i) {
      const float x = vector[at + i];
      const float rounded = x * steps + kRounder<float>;
      const float residual = x - scale * (rounded - kRounder<float>);
      codes[at + i] = static_cast<std::int8_t>(bits_of(rounded));
      squares[i] += x * x;
      residual_squares[i] += residual * residual;
    }
  }
  for (std::size_t half = kVectorLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      squares[i] += squares[i + half];
      residual_squares[i] += residual_squares[i + half];
    }
  }
  return {.scale = scale, .square = squares[0], .residual_square = residual_squares[0]};
}

}  // namespace

const VectorLoops kVectorLoops{
    .products = &products, .code_products = &code_products, .encode = &encode};

}  // namespace oneiros::ONEIROS_PATH
