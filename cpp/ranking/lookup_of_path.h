// Table look-ups on one SIMD path; part of kernels_of_path.h.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ranking/formulas/primitives.h"
#include "simd/real.h"

namespace oneiros::ONEIROS_PATH {

namespace {

// A look-up table: `size` values, followed by the value for codes that are not an index.
template <typename Real>
struct Table {
  const Real* values;
  std::size_t size;
};
// The scalar form, for the rows that do not fill a register.

template <typename Real>
ONEIROS_ALWAYS_INLINE void look_up_one_by_one(Table<Real> table, const Real* codes, Real* result,
                                              std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    result[i] = formulas::looked_up(table.values, table.size, codes[i]);
  }
}

#if defined(__AVX512F__)

// The index of each code. Codes beyond every integer become the largest unsigned one.
ONEIROS_ALWAYS_INLINE __m512i indices_of(__m512 codes, __m512i outside) {
  const __m512i whole = _mm512_cvttps_epi32(codes);
  const __mmask16 is_whole = _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(whole), codes, _CMP_EQ_OQ);
  return _mm512_mask_min_epu32(outside, is_whole, whole, outside);
}

// NaN codes give NaN.
ONEIROS_ALWAYS_INLINE __m512 keep_nan(__m512 codes, __m512 values) {
  return _mm512_mask_mov_ps(values, _mm512_cmp_ps_mask(codes, codes, _CMP_UNORD_Q), codes);
}

// Up to 32 entries fit two registers, which one permute instruction covers.
ONEIROS_ALWAYS_INLINE std::size_t look_up_in_registers(Table<float> table, const float* codes,
                                                       float* result, std::size_t size) {
  const auto held = static_cast<std::uint32_t>((std::uint64_t{1} << (table.size + 1)) - 1);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(held), table.values);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(held >> 16), table.values + 16);
  const __m512i outside = _mm512_set1_epi32(static_cast<int>(table.size));
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    const __m512 code = _mm512_loadu_ps(codes + i);
    const __m512 value = _mm512_permutex2var_ps(low, indices_of(code, outside), high);
    _mm512_storeu_ps(result + i, keep_nan(code, value));
  }
  return i;
}

// Whole registers of rows: by permutation for small tables, otherwise by gathers. Returns the
// number of rows done; the caller finishes the rest.
ONEIROS_ALWAYS_INLINE std::size_t look_up_by_lanes(Table<float> table, const float* codes,
                                                   float* result, std::size_t size) {
  if (table.size < 32) {
    return look_up_in_registers(table, codes, result, size);
  }
  const __m512i outside = _mm512_set1_epi32(static_cast<int>(table.size));
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    const __m512 code = _mm512_loadu_ps(codes + i);
    const __m512 value = _mm512_i32gather_ps(indices_of(code, outside), table.values, 4);
    _mm512_storeu_ps(result + i, keep_nan(code, value));
  }
  return i;
}

// Entries [begin, begin + 8) of a table, zero beyond its end.
ONEIROS_ALWAYS_INLINE __m512d entries(Table<double> table, std::size_t begin) {
  const std::size_t held = table.size + 1;
  const std::size_t count = held < begin ? 0 : held - begin;
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(count < 8 ? (1U << count) - 1 : 0xff),
                               table.values + (held < begin ? 0 : begin));
}

// Up to 32 entries fit four registers; one permute covers two of them.
ONEIROS_ALWAYS_INLINE std::size_t look_up_in_registers(Table<double> table, const double* codes,
                                                       double* result, std::size_t size) {
  const __m512d first = entries(table, 0);
  const __m512d second = entries(table, 8);
  const __m512d third = entries(table, 16);
  const __m512d fourth = entries(table, 24);
  const __m512i outside = _mm512_set1_epi64(static_cast<std::int64_t>(table.size));
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const __m512d code = _mm512_loadu_pd(codes + i);
    const __m512i whole = _mm512_cvttpd_epi64(code);
    const __mmask8 is_whole = _mm512_cmp_pd_mask(_mm512_cvtepi64_pd(whole), code, _CMP_EQ_OQ);
    const __m512i index = _mm512_mask_min_epu64(outside, is_whole, whole, outside);
    const __m512d low = _mm512_permutex2var_pd(first, index, second);
    const __m512d high = _mm512_permutex2var_pd(third, index, fourth);
    const __m512d value =
        _mm512_mask_mov_pd(low, _mm512_cmpgt_epu64_mask(index, _mm512_set1_epi64(15)), high);
    const __mmask8 is_nan = _mm512_cmp_pd_mask(code, code, _CMP_UNORD_Q);
    _mm512_storeu_pd(result + i, _mm512_mask_mov_pd(value, is_nan, code));
  }
  return i;
}

ONEIROS_ALWAYS_INLINE std::size_t look_up_by_lanes(Table<double> table, const double* codes,
                                                   double* result, std::size_t size) {
  if (table.size < 32) {
    return look_up_in_registers(table, codes, result, size);
  }
  const __m256i outside = _mm256_set1_epi32(static_cast<int>(table.size));
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const __m512d code = _mm512_loadu_pd(codes + i);
    const __m256i whole = _mm512_cvttpd_epi32(code);
    const __mmask8 is_whole = _mm512_cmp_pd_mask(_mm512_cvtepi32_pd(whole), code, _CMP_EQ_OQ);
    const __m256i index = _mm256_mask_min_epu32(outside, is_whole, whole, outside);
    const __m512d value = _mm512_i32gather_pd(index, table.values, 8);
    const __mmask8 is_nan = _mm512_cmp_pd_mask(code, code, _CMP_UNORD_Q);
    _mm512_storeu_pd(result + i, _mm512_mask_mov_pd(value, is_nan, code));
  }
  return i;
}

#elif defined(__AVX2__)

ONEIROS_ALWAYS_INLINE std::size_t look_up_by_lanes(Table<float> table, const float* codes,
                                                   float* result, std::size_t size) {
  const __m256i outside = _mm256_set1_epi32(static_cast<int>(table.size));
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const __m256 code = _mm256_loadu_ps(codes + i);
    const __m256i whole = _mm256_cvttps_epi32(code);
    const __m256 is_whole = _mm256_cmp_ps(_mm256_cvtepi32_ps(whole), code, _CMP_EQ_OQ);
    const __m256i bounded = _mm256_min_epu32(whole, outside);
    const __m256i index = _mm256_blendv_epi8(outside, bounded, _mm256_castps_si256(is_whole));
    const __m256 value = _mm256_i32gather_ps(table.values, index, 4);
    const __m256 is_nan = _mm256_cmp_ps(code, code, _CMP_UNORD_Q);
    _mm256_storeu_ps(result + i, _mm256_blendv_ps(value, code, is_nan));
  }
  return i;
}

// With AVX2 the scalar form does all rows of doubles.
ONEIROS_ALWAYS_INLINE std::size_t look_up_by_lanes(Table<double> /*table*/, const double* /*codes*/,
                                                   double* /*result*/, std::size_t /*size*/) {
  return 0;
}

#else

template <typename Real>
ONEIROS_ALWAYS_INLINE std::size_t look_up_by_lanes(Table<Real> /*table*/, const Real* /*codes*/,
                                                   Real* /*result*/, std::size_t /*size*/) {
  return 0;
}

#endif
// Looks up all rows.

template <typename Real>
ONEIROS_ALWAYS_INLINE void look_up(Table<Real> table, const Real* codes, Real* result,
                                   std::size_t size) {
  const std::size_t done = look_up_by_lanes(table, codes, result, size);
  look_up_one_by_one(table, codes + done, result + done, size - done);
}

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
