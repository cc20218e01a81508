// Lines of rows, and tables of formula values for small counts, on one SIMD path; part of
// kernels_of_path.h.
//
// Access counts, session counts and peer counts are whole numbers, nearly all small, to which
// formulas apply logarithms and powers. The values for 0 to 31 are computed once per call by the
// formula itself, so the bits are the same; lines with other numbers are computed row by row.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ranking/kernel_code.h"
#include "simd/real.h"
#include "simd/rows.h"

namespace oneiros::ONEIROS_PATH {

namespace {

template <typename Element>
constexpr std::size_t kLineRows = kLine / sizeof(Element);
// A cache line of rows.

template <typename Real>
struct alignas(kLine) Block {
  Real rows[kLineRows<Real>];
};

// The values of a formula for the counts 0 to kSize - 1.
template <typename Real>
class CountTable {
 public:
  static constexpr std::size_t kSize = 32;
  // Evaluates the formula for each count. The results are the same bits as by row.

  template <typename Formula>
  ONEIROS_ALWAYS_INLINE void fill(const Real* numbers) {
    ONEIROS_ROWS
    for (std::size_t count = 0; count < kSize; ++count) {
      values_[count] = Formula::of_count(numbers, static_cast<Real>(static_cast<int>(count)));
    }
  }

  // True if count(i) is in the table for each row i of a line (-0 is not).
  template <typename Count>
  ONEIROS_ALWAYS_INLINE static bool holds(const Count& count) {
    Places places;
    return find(count, places);
  }

  // The same; on success `found` holds the values.
  template <typename Count>
  ONEIROS_ALWAYS_INLINE bool look_up(const Count& count, Block<Real>& found) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == sizeof(float)) {
      return look_up_in_registers(count, found);
    }
#endif
    Places places;
    if (!find(count, places)) {
      return false;
    }
    gather(places, found);
    return true;
  }

 private:
  struct Places {
    RealBits<Real> rows[kLineRows<Real>];
  };
  // Converts counts to indices by the rounding trick of real.h, and reports any that is not exact.

  template <typename Count>
  ONEIROS_ALWAYS_INLINE static bool find(const Count& count, Places& places) {
    constexpr RealBits<Real> kRounderBits = __builtin_bit_cast(RealBits<Real>, kRounder<Real>);
    RealBits<Real> broken = 0;
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
      const Real given = count(i);
      places.rows[i] = bits_of(given + kRounder<Real>) & (kSize - 1);
      const Real whole = real_of<Real>(kRounderBits | places.rows[i]) - kRounder<Real>;
      broken |= bits_of(whole) ^ bits_of(given);
    }
    return broken == 0;
  }

  // Loads the values at the indices.
  ONEIROS_ALWAYS_INLINE void gather(const Places& places, Block<Real>& found) const {
#if defined(__AVX2__)
    // Stored one by one, the values could not be forwarded to the wide load that follows.
    if constexpr (sizeof(Real) == sizeof(float)) {
      for (std::size_t i = 0; i < kLineRows<float>; i += 8) {
        const auto* const from = reinterpret_cast<const __m256i*>(places.rows + i);
        _mm256_storeu_ps(found.rows + i,
                         _mm256_i32gather_ps(values_, _mm256_loadu_si256(from), sizeof(float)));
      }
      return;
    }
#endif
    for (std::size_t i = 0; i < kLineRows<Real>; ++i) {
      found.rows[i] = values_[places.rows[i]];
    }
  }

#if defined(__AVX512F__)
  template <typename Count>
  ONEIROS_ALWAYS_INLINE bool look_up_in_registers(const Count& count, Block<float>& found) const {
    Block<float> counts;
    ONEIROS_ROWS
    for (std::size_t i = 0; i < kLineRows<float>; ++i) {
      counts.rows[i] = count(i);
    }
    const __m512 given = _mm512_load_ps(counts.rows);
    const __m512i whole = _mm512_cvttps_epi32(given);
    const __m512i again = _mm512_castps_si512(_mm512_cvtepi32_ps(whole));
    const __mmask16 is_held =
        _mm512_mask_cmplt_epu32_mask(_mm512_cmpeq_epi32_mask(again, _mm512_castps_si512(given)),
                                     whole, _mm512_set1_epi32(static_cast<int>(kSize)));
    _mm512_store_ps(found.rows, _mm512_permutex2var_ps(_mm512_load_ps(values_), whole,
                                                       _mm512_load_ps(values_ + 16)));
    return is_held == 0xffff;
  }
#endif

  alignas(kLine) Real values_[kSize];
};

}  // namespace

}  // namespace oneiros::ONEIROS_PATH
