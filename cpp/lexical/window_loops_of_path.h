// The loops over a window, compiled once a SIMD path: window_loops_<path>.cpp sets ONEIROS_PATH and
// its compiler flags, and includes this file. All functions here are local to that file or inlined.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "lexical/window_loops.h"

namespace oneiros::lexical::ONEIROS_PATH {

extern const WindowLoops kWindowLoops;

namespace {

constexpr std::size_t kGroup = kMarkedDocuments;

// Bit i says whether scores[i] >= least, of the 32 from `scores` on.
#if defined(__AVX512BW__)
inline std::uint32_t at_least(const std::uint16_t* scores, std::uint16_t least) {
  const __m512i all = _mm512_loadu_si512(scores);
  return _mm512_cmpge_epu16_mask(all, _mm512_set1_epi16(static_cast<short>(least)));
}
#elif defined(__AVX2__)
inline std::uint32_t at_least(const std::uint16_t* scores, std::uint16_t least) {
  const __m256i bound = _mm256_set1_epi16(static_cast<short>(least));
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scores));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scores + 16));
  const __m256i both = _mm256_packs_epi16(_mm256_cmpeq_epi16(_mm256_max_epu16(low, bound), low),
                                          _mm256_cmpeq_epi16(_mm256_max_epu16(high, bound), high));
  constexpr int kInOrder = 0b11'01'10'00;
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, kInOrder)));
}
#elif defined(__SSE2__)
inline std::uint32_t half_at_least(const std::uint16_t* scores, std::uint16_t least) {
  const __m128i bound = _mm_set1_epi16(static_cast<short>(least));
  const __m128i zero = _mm_setzero_si128();
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(scores));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(scores + 8));
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(_mm_subs_epu16(bound, low), zero),
                                        _mm_cmpeq_epi16(_mm_subs_epu16(bound, high), zero))));
}
inline std::uint32_t at_least(const std::uint16_t* scores, std::uint16_t least) {
  return half_at_least(scores, least) | (half_at_least(scores + 16, least) << 16U);
}
#else
inline std::uint32_t at_least(const std::uint16_t* scores, std::uint16_t least) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kGroup; ++i) {
    bits |= static_cast<std::uint32_t>(scores[i] >= least ? 1U : 0U) << i;
  }
  return bits;
}
#endif

// Calls look(first document) for each group that may have scores above 0.
template <typename Look>
inline void for_each_group(const WindowScores& window, Look look) {
  if (window.marks == nullptr) {
    for (std::size_t at = 0; at < window.size; at += kGroup) {
      look(at);
    }
    return;
  }
  const std::size_t group_count = window.size / kGroup;
  for (std::size_t group = 0; group < group_count; group += sizeof(std::uint64_t)) {
    std::uint64_t marks = 0;
    std::memcpy(&marks, window.marks + group, sizeof(marks));
    for (; marks != 0; marks &= marks - 1) {  // a mark is a byte of value 1
      look((group + static_cast<std::size_t>(__builtin_ctzll(marks)) / 8) * kGroup);
    }
  }
}

template <bool IsMarking>
inline void accumulate_run(const PackedRun run, const std::uint16_t* values,
                           const WindowScores window) {
  const std::uint64_t mask = (std::uint64_t{1} << run.bits) - 1;
  std::size_t bit = std::size_t{run.begin} * run.bits;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, run.differences + bit / 8, sizeof(word));
    const auto place = static_cast<std::uint32_t>(((word >> (bit % 8)) & mask) + run.shift);
    window.scores[place] = static_cast<std::uint16_t>(window.scores[place] + values[run.codes[i]]);
    if constexpr (IsMarking) {
      window.marks[place / kGroup] = 1;
    }
    bit += run.bits;
  }
}

void accumulate(const PackedRun& run, const std::uint16_t* values, const WindowScores& window) {
  if (window.marks == nullptr) {
    accumulate_run<false>(run, values, window);
  } else {
    accumulate_run<true>(run, values, window);
  }
}

std::size_t pick(const PackedRun& run, const std::uint16_t* values, const std::uint8_t* allowed,
                 Candidate* candidates) {
  const std::uint64_t mask = (std::uint64_t{1} << run.bits) - 1;
  std::size_t bit = std::size_t{run.begin} * run.bits;
  std::size_t picked = 0;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, run.differences + bit / 8, sizeof(word));
    const auto document = static_cast<std::uint32_t>(((word >> (bit % 8)) & mask) + run.shift);
    if (((allowed[document / 8] >> (document % 8)) & 1U) != 0) {
      candidates[picked++] = {.document = document, .score = values[run.codes[i]]};
    }
    bit += run.bits;
  }
  return picked;
}

// Bit i says whether document at + i is allowed, of 32.
inline std::uint32_t allowed_from(const WindowScores& window, std::size_t at) {
  if (window.allowed == nullptr) {
    return ~std::uint32_t{0};
  }
  std::uint64_t word = 0;
  std::memcpy(&word, window.allowed + (at + window.shift) / 8, sizeof(word));
  return static_cast<std::uint32_t>(word >> ((at + window.shift) % 8));
}

std::size_t count(const WindowScores& window, std::uint16_t least) {
  std::size_t total = 0;
  const std::uint16_t* const scores = window.scores;
  for_each_group(window, [&](std::size_t at) {
    const std::uint32_t found = at_least(scores + at, least);
    if (found != 0) {
      total += static_cast<std::size_t>(__builtin_popcount(found & allowed_from(window, at)));
    }
  });
  return total;
}

template <bool IsLast>
inline std::size_t take_from(const WindowScores window, std::uint16_t least,
                             WindowCandidate* candidates) {
  std::uint16_t* const scores = window.scores;
  std::size_t taken = 0;
  for_each_group(window, [&](std::size_t at) {
    std::uint32_t found = at_least(scores + at, least);
    found = found != 0 ? found & allowed_from(window, at) : 0;
    for (; found != 0; found &= found - 1) {
      const std::size_t place = at + static_cast<std::size_t>(__builtin_ctz(found));
      candidates[taken++] = {.place = static_cast<std::uint16_t>(place), .score = scores[place]};
    }
    if constexpr (IsLast) {
      std::memset(scores + at, 0, kGroup * sizeof(std::uint16_t));
    }
  });
  if (IsLast && window.marks != nullptr) {
    std::memset(window.marks, 0, window.size / kGroup);
  }
  return taken;
}

std::size_t take(const WindowScores& window, std::uint16_t least, WindowCandidate* candidates) {
  return take_from<false>(window, least, candidates);
}

std::size_t take_last(const WindowScores& window, std::uint16_t least,
                      WindowCandidate* candidates) {
  return take_from<true>(window, least, candidates);
}

}  // namespace

const WindowLoops kWindowLoops{.accumulate = &accumulate,
                               .pick = &pick,
                               .count = &count,
                               .take = &take,
                               .take_last = &take_last};

}  // namespace oneiros::lexical::ONEIROS_PATH
