// The loops over vectors, compiled once per SIMD path: vector_loops_<path>.cpp defines
// ONEIROS_PATH, sets the compiler flags and includes this file. All functions here are local or
// inlined.
//
// Four vectors are processed at a time, their 32 lanes in registers: with AVX-512 all four share a
// load of the query (8 of 32 registers), with AVX2 two (8 of 16), with SSE one. Each vector is
// reduced to four lanes; a transpose then sums four vectors at once. The halves of codes are
// multiplied by the bytes of the query's components and added pairwise into 16 bits, then into 32.

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
// So many ahead, vectors are prefetched, and halves of codes.
constexpr std::size_t kVectorsAhead = 8;
constexpr std::size_t kHalvesAhead = 32;
constexpr std::size_t kHalvesOfGroup = 2'048;  // whose products are in the first-level cache

// A rounded number's exponent is 112 less than that of a float with these bits, and its mantissa 13
// bits shorter. The product is exact, of numbers below the smallest normal ones too.
constexpr float kStepOfRounded = 0x1p112F;

ONEIROS_ALWAYS_INLINE float value_of(float component) { return component; }
ONEIROS_ALWAYS_INLINE float value_of(Rounded component) {
  const std::uint32_t bits = component;
  const float magnitude = real_of<float>((bits & 0x7FFF) << 13) * kStepOfRounded;
  return real_of<float>(bits_of(magnitude) | ((bits & 0x8000) << 16));
}

#if defined(__SSE2__)

#if defined(__AVX512F__)
using Register = __m512;
// Wrappers of the path's registers, so that the loops below are written once.
constexpr std::size_t kShared = 4;  // vectors that share a load of the query
ONEIROS_ALWAYS_INLINE Register zero() { return _mm512_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm512_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register load(const Rounded* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm512_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) {
  const __m256 eight =
      _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
  return _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
}
using Integers = __m512i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm512_setzero_si512(); }
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE Integers load(const void* from) { return _mm512_loadu_si512(from); }
ONEIROS_ALWAYS_INLINE Integers lower_bits(Integers bytes) {
  return _mm512_and_si512(bytes, _mm512_set1_epi8(0x0F));
}
ONEIROS_ALWAYS_INLINE Integers upper_bits(Integers bytes) {
  return lower_bits(_mm512_srli_epi16(bytes, 4));
}
ONEIROS_ALWAYS_INLINE Integers add_products(Integers sums, Integers a, Integers x, Integers b,
                                            Integers y) {
#if defined(__AVX512VNNI__)
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sums, a, x), b, y);
#else
  return add_pairs(sums, _mm512_add_epi16(_mm512_maddubs_epi16(a, x), _mm512_maddubs_epi16(b, y)),
                   _mm512_set1_epi16(1));
#endif
}
ONEIROS_ALWAYS_INLINE Integers add_raised(Integers sums, Integers raised) {
  return _mm512_add_epi32(sums, _mm512_slli_epi32(raised, 7));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) {
  const __m256i eight =
      _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
}
// Writes the places of the lanes that reach the bound, from `first` on. Returns their number.
ONEIROS_ALWAYS_INLINE std::size_t select_lanes(Register lanes, Register bound, std::uint32_t first,
                                               std::uint32_t* places) {
  const __mmask16 reached = _mm512_cmp_ps_mask(lanes, bound, _CMP_GE_OQ);
  const Integers numbers =
      _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                       _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  _mm512_storeu_si512(places, _mm512_maskz_compress_epi32(reached, numbers));
  return static_cast<std::size_t>(__builtin_popcount(reached));
}
ONEIROS_ALWAYS_INLINE Register all_lanes(float x) { return _mm512_set1_ps(x); }
#elif defined(__AVX2__)
using Register = __m256;
constexpr std::size_t kShared = 2;
ONEIROS_ALWAYS_INLINE Register zero() { return _mm256_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm256_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register load(const Rounded* from) {
  const __m256i bits =
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x8000)), 16);
  const __m256i magnitude =
      _mm256_slli_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7FFF)), 13);
  return _mm256_or_ps(_mm256_mul_ps(_mm256_castsi256_ps(magnitude), _mm256_set1_ps(kStepOfRounded)),
                      _mm256_castsi256_ps(sign));
}
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm256_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) {
  return _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
}
using Integers = __m256i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm256_setzero_si256(); }
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE Integers load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
ONEIROS_ALWAYS_INLINE Integers lower_bits(Integers bytes) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(0x0F));
}
ONEIROS_ALWAYS_INLINE Integers upper_bits(Integers bytes) {
  return lower_bits(_mm256_srli_epi16(bytes, 4));
}
ONEIROS_ALWAYS_INLINE Integers add_products(Integers sums, Integers a, Integers x, Integers b,
                                            Integers y) {
  return add_pairs(sums, _mm256_add_epi16(_mm256_maddubs_epi16(a, x), _mm256_maddubs_epi16(b, y)),
                   _mm256_set1_epi16(1));
}
ONEIROS_ALWAYS_INLINE Integers add_raised(Integers sums, Integers raised) {
  return _mm256_add_epi32(sums, _mm256_slli_epi32(raised, 7));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) {
  return _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
}
ONEIROS_ALWAYS_INLINE int lanes_reaching(Register lanes, Register bound) {
  return _mm256_movemask_ps(_mm256_cmp_ps(lanes, bound, _CMP_GE_OQ));
}
ONEIROS_ALWAYS_INLINE Register all_lanes(float x) { return _mm256_set1_ps(x); }
#else
using Register = __m128;
constexpr std::size_t kShared = 1;
ONEIROS_ALWAYS_INLINE Register zero() { return _mm_setzero_ps(); }
ONEIROS_ALWAYS_INLINE Register load(const float* from) { return _mm_loadu_ps(from); }
ONEIROS_ALWAYS_INLINE Register load(const Rounded* from) {
  const __m128i bits = _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)),
                                          _mm_setzero_si128());
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(bits, _mm_set1_epi32(0x8000)), 16);
  const __m128i magnitude = _mm_slli_epi32(_mm_and_si128(bits, _mm_set1_epi32(0x7FFF)), 13);
  return _mm_or_ps(_mm_mul_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(kStepOfRounded)),
                   _mm_castsi128_ps(sign));
}
ONEIROS_ALWAYS_INLINE Register add(Register a, Register b) { return _mm_add_ps(a, b); }
ONEIROS_ALWAYS_INLINE Register multiply(Register a, Register b) { return _mm_mul_ps(a, b); }
ONEIROS_ALWAYS_INLINE __m128 four_lanes(Register lanes) { return lanes; }
using Integers = __m128i;
ONEIROS_ALWAYS_INLINE Integers no_integers() { return _mm_setzero_si128(); }
ONEIROS_ALWAYS_INLINE Integers add_pairs(Integers sums, Integers a, Integers b) {
  return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}
ONEIROS_ALWAYS_INLINE Integers load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
ONEIROS_ALWAYS_INLINE Integers lower_bits(Integers bytes) {
  return _mm_and_si128(bytes, _mm_set1_epi8(0x0F));
}
ONEIROS_ALWAYS_INLINE Integers upper_bits(Integers bytes) {
  return lower_bits(_mm_srli_epi16(bytes, 4));
}
ONEIROS_ALWAYS_INLINE __m128i four_lanes(Integers lanes) { return lanes; }
ONEIROS_ALWAYS_INLINE int lanes_reaching(Register lanes, Register bound) {
  return _mm_movemask_ps(_mm_cmpge_ps(lanes, bound));
}
ONEIROS_ALWAYS_INLINE Register all_lanes(float x) { return _mm_set1_ps(x); }
#endif

#if !defined(__AVX512F__)
// Writes the places of the lanes that reach the bound, from `first` on. Returns their number.
ONEIROS_ALWAYS_INLINE std::size_t select_lanes(Register lanes, Register bound, std::uint32_t first,
                                               std::uint32_t* places) {
  std::size_t count = 0;
  for (auto left = static_cast<unsigned>(lanes_reaching(lanes, bound)); left != 0;
       left &= left - 1) {
    places[count++] = first + static_cast<std::uint32_t>(__builtin_ctz(left));
  }
  return count;
}
#endif

constexpr std::size_t kWidth = sizeof(Register) / sizeof(float);
constexpr std::size_t kRegisters = kVectorLanes / kWidth;  // per vector

// Reduces the lanes of kShared vectors to four each.
template <typename Component>
ONEIROS_ALWAYS_INLINE void sum_lanes(const float* query, const Component* const* vectors,
                                     std::size_t width, __m128* sums) {
  Register lanes[kShared][kRegisters];
  const Component* from[kShared];
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
template <typename Component>
ONEIROS_ALWAYS_INLINE void four_products(const float* query, const Component* const* vectors,
                                         std::size_t width, float* products) {
  __m128 sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; v += kShared) {
    sum_lanes(query, vectors + v, width, sums + v);
  }
  _MM_TRANSPOSE4_PS(sums[0], sums[1], sums[2], sums[3]);
  _mm_storeu_ps(products, _mm_add_ps(_mm_add_ps(sums[0], sums[2]), _mm_add_ps(sums[1], sums[3])));
}

ONEIROS_ALWAYS_INLINE void store_sums(const Integers* lanes, std::int32_t* products) {
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

// Four vectors' products with a line of the query, added to lanes whose sum is that of the vector.
#if defined(__AVX2__)
// The products of two halves and their query's bytes are 3,810 at most, which 16 bits have room
// for. The components of the query that are multiplied by 128 have sums of their own.
struct HalfSums {
  Integers lanes[kVectors];
  Integers raised[kVectors];

  ONEIROS_ALWAYS_INLINE void add(const QueryOfHalves& query, std::size_t first, std::size_t v,
                                 Integers bytes) {
    const std::size_t last = first + kBytesOfLine;
    const Integers a = lower_bits(bytes);
    const Integers b = upper_bits(bytes);
    lanes[v] = add_products(lanes[v], a, load(query.lower + first), b, load(query.lower + last));
    raised[v] = add_products(raised[v], a, load(query.upper + first), b, load(query.upper + last));
  }
  ONEIROS_ALWAYS_INLINE Integers sum(std::size_t v) const {
    return add_raised(lanes[v], raised[v]);
  }
};
#else
// Without products of bytes, halves are widened to 16 bits.
struct HalfSums {
  Integers lanes[kVectors];

  ONEIROS_ALWAYS_INLINE void add(const QueryOfHalves& query, std::size_t first, std::size_t v,
                                 Integers bytes) {
    const std::int16_t* const a = query.components + first;
    const std::int16_t* const b = a + kBytesOfLine;
    const Integers none = no_integers();
    const Integers lower = lower_bits(bytes);
    const Integers upper = upper_bits(bytes);
    lanes[v] = add_pairs(lanes[v], _mm_unpacklo_epi8(lower, none), load(a));
    lanes[v] = add_pairs(lanes[v], _mm_unpackhi_epi8(lower, none), load(a + 8));
    lanes[v] = add_pairs(lanes[v], _mm_unpacklo_epi8(upper, none), load(b));
    lanes[v] = add_pairs(lanes[v], _mm_unpackhi_epi8(upper, none), load(b + 8));
  }
  ONEIROS_ALWAYS_INLINE Integers sum(std::size_t v) const { return lanes[v]; }
};
#endif

ONEIROS_ALWAYS_INLINE void four_halves(const QueryOfHalves& query,
                                       const std::uint8_t* const* halves, std::int32_t* products) {
  HalfSums all{};
  for (std::size_t line = 0; line < query.lines; ++line) {
#pragma GCC unroll 4
    for (std::size_t at = 0; at < kBytesOfLine; at += sizeof(Integers)) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) {
        all.add(query, line * kComponentsOfLine + at, v,
                load(halves[v] + line * kBytesOfLine + at));
      }
    }
  }
  __m128i sums[kVectors];
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) {
    sums[v] = four_lanes(all.sum(v));
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
template <typename Component>
ONEIROS_ALWAYS_INLINE void four_products(const float* query, const Component* const* vectors,
                                         std::size_t width, float* products) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    float lanes[kVectorLanes] = {};
    for (std::size_t at = 0; at < width; at += kVectorLanes) {
      for (std::size_t i = 0; i < kVectorLanes; ++i) {
        lanes[i] += query[at + i] * value_of(vectors[v][at + i]);
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

ONEIROS_ALWAYS_INLINE void four_halves(const QueryOfHalves& query,
                                       const std::uint8_t* const* halves, std::int32_t* products) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    std::uint32_t sum = 0;
    for (std::size_t line = 0; line < query.lines; ++line) {
      const std::int16_t* const part = query.components + line * kComponentsOfLine;
      for (std::size_t at = 0; at < kBytesOfLine; ++at) {
        const std::int32_t byte = halves[v][line * kBytesOfLine + at];
        sum += static_cast<std::uint32_t>((byte & 0x0F) * part[at] +
                                          (byte >> 4) * part[kBytesOfLine + at]);
      }
    }
    products[v] = static_cast<std::int32_t>(sum);
  }
}

#endif

// Codes are too short for the hardware prefetcher to recognise the forward read in time; and the
// vectors that codes leave over lie far apart.
ONEIROS_ALWAYS_INLINE void prefetch_lines(const void* begin, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kBytesOfLine) {
    __builtin_prefetch(static_cast<const std::byte*>(begin) + at);
  }
}

// Calls four(places, products) for groups of four of `count`, and prefetch(place) for those that
// come `ahead` of them. The last group is filled with its first place if it is incomplete. Both
// must be inlined: the compiler drops a call of what only prefetches.
template <typename Product, typename Four, typename Prefetch>
ONEIROS_ALWAYS_INLINE void by_fours(std::size_t count, std::size_t ahead, Product* products,
                                    Four four, Prefetch prefetch) {
  std::size_t i = 0;
  for (; i + kVectors <= count; i += kVectors) {
    for (std::size_t v = 0; v < kVectors && i + ahead + kVectors <= count; ++v) {
      prefetch(i + ahead + v);
    }
    const std::size_t places[kVectors] = {i, i + 1, i + 2, i + 3};
    four(places, products + i);
  }
  if (i == count) {
    return;
  }
  std::size_t places[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    places[v] = i + v < count ? i + v : i;
  }
  Product their_products[kVectors];
  four(places, their_products);
  for (std::size_t v = 0; i + v < count; ++v) {
    products[i + v] = their_products[v];
  }
}

template <typename Component>
ONEIROS_ALWAYS_INLINE void all_products(const float* query, const Component* const* vectors,
                                        std::size_t count, std::size_t width, float* products) {
  by_fours(
      count, kVectorsAhead, products,
      [=](const std::size_t* places, float* out) ONEIROS_ALWAYS_INLINE_LAMBDA {
        const Component* const from[kVectors] = {vectors[places[0]], vectors[places[1]],
                                                 vectors[places[2]], vectors[places[3]]};
        four_products(query, from, width, out);
      },
      [=](std::size_t place) ONEIROS_ALWAYS_INLINE_LAMBDA {
        prefetch_lines(vectors[place], width * sizeof(Component));
      });
}

// See VectorLoops.
void products(const float* query, const float* const* vectors, std::size_t count, std::size_t width,
              float* products) {
  all_products(query, vectors, count, width, products);
}

void rounded_products(const float* query, const Rounded* const* vectors, std::size_t count,
                      std::size_t width, float* products) {
  all_products(query, vectors, count, width, products);
}

void widen(const Rounded* vector, std::size_t width, float* widened) {
  for (std::size_t i = 0; i < width; ++i) {
    widened[i] = value_of(vector[i]);
  }
}

// Products of integers.
void half_products(const QueryOfHalves& query, const std::uint8_t* const* halves, std::size_t count,
                   std::int32_t* products) {
  const QueryOfHalves q = query;
  const auto prefetch = [=](std::size_t place) ONEIROS_ALWAYS_INLINE_LAMBDA {
    prefetch_lines(halves[place], q.lines * kBytesOfLine);
  };
  for (std::size_t i = 0; i < kHalvesAhead && i < count; ++i) {
    prefetch(i);
  }
  by_fours(
      count, kHalvesAhead, products,
      [=](const std::size_t* places, std::int32_t* out) ONEIROS_ALWAYS_INLINE_LAMBDA {
        const std::uint8_t* const from[kVectors] = {halves[places[0]], halves[places[1]],
                                                    halves[places[2]], halves[places[3]]};
        four_halves(q, from, out);
      },
      prefetch);
}

void screen(const QueryOfHalves& query, const std::uint8_t* const* halves, const float* steps,
            std::size_t count, float* near, float* most) {
  const QueryOfHalves q = query;
  std::int32_t products[kHalvesOfGroup];
  for (std::size_t begin = 0; begin < count; begin += kHalvesOfGroup) {
    const std::size_t size = count - begin < kHalvesOfGroup ? count - begin : kHalvesOfGroup;
    half_products(q, halves + begin, size, products);
    for (std::size_t i = 0; i < size; ++i) {
      const float step = steps[begin + i];
      const float product = q.offset + step * (static_cast<float>(products[i]) * q.scale + q.shift);
      const float bound = product + (step * q.spread + q.error);
      near[begin + i] = product;
      most[begin + i] = step == 0.0F ? __builtin_inff() : bound;
    }
  }
}

void refine(const QueryOfHalves& query, const std::uint8_t* const* halves, const float* steps,
            std::size_t count, const float* near, float* least, float* most) {
  const QueryOfHalves q = query;
  std::int32_t products[kHalvesOfGroup];
  for (std::size_t begin = 0; begin < count; begin += kHalvesOfGroup) {
    const std::size_t size = count - begin < kHalvesOfGroup ? count - begin : kHalvesOfGroup;
    half_products(q, halves + begin, size, products);
    for (std::size_t i = 0; i < size; ++i) {
      const float step = steps[begin + i];
      const float product =
          near[begin + i] + step * (static_cast<float>(products[i]) * q.scale + q.shift);
      const float within = step == 0.0F ? __builtin_inff() : step * q.spread + q.error;
      least[begin + i] = product - within;
      most[begin + i] = product + within;
    }
  }
}

std::size_t select(const float* values, std::size_t count, float bound, std::uint32_t* places) {
  std::size_t found = 0;
  std::size_t i = 0;
#if defined(__SSE2__)
  const Register bounds = all_lanes(bound);
  for (; i + kWidth <= count; i += kWidth) {
    found += select_lanes(load(values + i), bounds, static_cast<std::uint32_t>(i), places + found);
  }
#endif
  for (; i < count; ++i) {
    places[found] = static_cast<std::uint32_t>(i);
    found += values[i] >= bound ? 1U : 0U;
  }
  return found;
}

// Sums in lanes, so that the compiler vectorises the loop.
Extent subtract(const float* x, const float* center, std::size_t width, float* difference) {
  std::int32_t largest_bits[kVectorLanes] = {};  // of magnitudes, ordered like their values
  float squares[kVectorLanes] = {};
  for (std::size_t at = 0; at < width; at += kVectorLanes) {
    for (std::size_t i = 0; i < kVectorLanes; ++i) {
      const float y = x[at + i] - center[at + i];
      difference[at + i] = y;
      const auto bits = static_cast<std::int32_t>(bits_of(magnitude_of(y)));
      largest_bits[i] = bits > largest_bits[i] ? bits : largest_bits[i];
      squares[i] += y * y;
    }
  }
  for (std::size_t half = kVectorLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      squares[i] += squares[i + half];
      const std::int32_t bits = largest_bits[i + half];
      largest_bits[i] = bits > largest_bits[i] ? bits : largest_bits[i];
    }
  }
  return {.largest = real_of<float>(static_cast<std::uint32_t>(largest_bits[0])),
          .square = squares[0]};
}

// In two loops without branches, which the compiler vectorises.
void encode(const float* vector, const float* shift, float step, std::size_t lines,
            std::uint8_t* upper, std::uint8_t* lower) {
  const float steps = 1.0F / step;
  std::int32_t codes[kComponentsOfLine];
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t i = 0; i < kComponentsOfLine; ++i) {
      const std::size_t at = line * kComponentsOfLine + i;
      auto code = static_cast<std::int32_t>(16.0F * (vector[at] * steps + shift[at]));
      code = code < 0 ? 0 : code;
      codes[i] = code > 255 ? 255 : code;
    }
    for (std::size_t i = 0; i < kBytesOfLine; ++i) {
      const std::int32_t first = codes[i];
      const std::int32_t last = codes[kBytesOfLine + i];
      upper[line * kBytesOfLine + i] = static_cast<std::uint8_t>((first >> 4) | (last & 0xF0));
      lower[line * kBytesOfLine + i] =
          static_cast<std::uint8_t>((first & 0x0F) | ((last & 0x0F) << 4));
    }
  }
}

}  // namespace

const VectorLoops kVectorLoops{.products = &products,
                               .rounded_products = &rounded_products,
                               .widen = &widen,
                               .screen = &screen,
                               .refine = &refine,
                               .select = &select,
                               .subtract = &subtract,
                               .encode = &encode};

}  // namespace oneiros::ONEIROS_PATH
