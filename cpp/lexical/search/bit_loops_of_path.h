// Loops over bit sets, compiled once per SIMD path by window_loops_of_path.h. All functions here
// are local to that translation unit or inlined.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "lexical/search/window_loops.h"

namespace oneiros::lexical::ONEIROS_PATH {

namespace {

// Population count of a word; without the instruction, by summing ever wider bit groups.
inline std::size_t bits_of(std::uint64_t word) {
#if defined(__POPCNT__)
  return static_cast<std::size_t>(__builtin_popcountll(word));
#else
  word -= (word >> 1U) & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + ((word >> 2U) & 0x3333333333333333U);
  word = (word + (word >> 4U)) & 0x0F0F0F0F0F0F0F0FU;
  return (word * 0x0101010101010101U) >> 56U;
#endif
}

std::size_t count_bits(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kAhead = 4096;  // beyond the reach of the hardware prefetcher
  std::size_t total = 0;
  std::size_t at = 0;
  std::uint64_t word = 0;
  for (; at + kAhead + kLine <= size; at += kLine) {
    __builtin_prefetch(bytes + at + kAhead);
    for (std::size_t i = 0; i < kLine; i += sizeof(word)) {
      std::memcpy(&word, bytes + at + i, sizeof(word));
      total += bits_of(word);
    }
  }
  for (; at + sizeof(word) <= size; at += sizeof(word)) {
    std::memcpy(&word, bytes + at, sizeof(word));
    total += bits_of(word);
  }
  for (; at < size; ++at) {
    total += bits_of(bytes[at]);
  }
  return total;
}

#if defined(__AVX512BW__)
std::size_t find_words(const std::uint8_t* bytes, std::size_t line_count, std::uint32_t first,
                       const BitWords& found) {
  constexpr std::uint32_t kWordBits = 64;
  const __m256i step = _mm256_set1_epi32(kBitLineWords * kWordBits);
  __m256i firsts = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)),
                                    _mm256_setr_epi32(0, 64, 128, 192, 256, 320, 384, 448));
  std::size_t count = 0;
  for (std::size_t line = 0; line < line_count; ++line) {
    const __m512i words = _mm512_loadu_si512(bytes + line * kBitLineBytes);
    const __mmask8 any = _mm512_test_epi64_mask(words, words);
    _mm512_storeu_si512(found.words + count, _mm512_maskz_compress_epi64(any, words));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(found.firsts + count),
                        _mm256_maskz_compress_epi32(any, firsts));
    count += static_cast<std::size_t>(__builtin_popcount(any));
    firsts = _mm256_add_epi32(firsts, step);
  }
  return count;
}

// Emits the lowest bit of every word, then of every word with another, and so on: no unpredictable
// branches.
std::size_t list_words(const BitWords& found, std::size_t count, std::uint32_t* listed) {
  constexpr std::size_t kLanes = 8;
  constexpr int kMantissaBits = 52;
  const __m512i bias = _mm512_set1_epi64(1023);
  std::size_t total = 0;
  while (count != 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; i += kLanes) {
      const std::size_t left = count - i;
      const auto lanes = static_cast<__mmask8>(left < kLanes ? (1U << left) - 1U : 0xFFU);
      const __m512i words = _mm512_maskz_loadu_epi64(lanes, found.words + i);
      const __m256i firsts = _mm256_maskz_loadu_epi32(lanes, found.firsts + i);
      // The exponent of a power of two in floating point is the number of its bit.
      const __m512i lowest =
          _mm512_and_si512(words, _mm512_sub_epi64(_mm512_setzero_si512(), words));
      const __m512i exponents =
          _mm512_srli_epi64(_mm512_castpd_si512(_mm512_cvtepu64_pd(lowest)), kMantissaBits);
      const __m256i bits = _mm512_cvtepi64_epi32(_mm512_sub_epi64(exponents, bias));
      _mm256_mask_storeu_epi32(listed + total + i, lanes, _mm256_add_epi32(firsts, bits));
      const __m512i rest = _mm512_andnot_si512(lowest, words);
      const __mmask8 any = _mm512_test_epi64_mask(rest, rest);
      // Writes never overtake the reads.
      _mm512_mask_storeu_epi64(found.words + kept, lanes, _mm512_maskz_compress_epi64(any, rest));
      _mm256_mask_storeu_epi32(found.firsts + kept, lanes,
                               _mm256_maskz_compress_epi32(any, firsts));
      kept += static_cast<std::size_t>(__builtin_popcount(any));
    }
    total += count;
    count = kept;
  }
  return total;
}
#else
inline std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Words are stored unconditionally and counted only if non-zero, to avoid a branch.
std::size_t find_words(const std::uint8_t* bytes, std::size_t line_count, std::uint32_t first,
                       const BitWords& found) {
  constexpr std::uint32_t kWordBits = 64;
  std::size_t count = 0;
  for (std::size_t line = 0; line < line_count; ++line) {
    for (std::size_t i = 0; i < kBitLineWords; ++i) {
      const std::uint64_t word = word_at(bytes + (line * kBitLineWords + i) * sizeof(word));
      found.words[count] = word;
      found.firsts[count] =
          first + static_cast<std::uint32_t>(line * kBitLineWords + i) * kWordBits;
      count += word != 0 ? 1U : 0U;
    }
  }
  return count;
}

std::size_t list_words(const BitWords& found, std::size_t count, std::uint32_t* listed) {
  std::size_t total = 0;
  while (count != 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = found.words[i];
      const std::uint32_t first = found.firsts[i];
      listed[total + i] = first + static_cast<std::uint32_t>(__builtin_ctzll(word));
      const std::uint64_t rest = word & (word - 1);
      found.words[kept] = rest;
      found.firsts[kept] = first;
      kept += rest != 0 ? 1U : 0U;
    }
    total += count;
    count = kept;
  }
  return total;
}
#endif

}  // namespace

}  // namespace oneiros::lexical::ONEIROS_PATH
