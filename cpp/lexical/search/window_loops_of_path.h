// The loops over a window, compiled once per SIMD path: window_loops_<path>.cpp defines
// ONEIROS_PATH, sets the compiler flags and includes this file. All functions here are local to
// that translation unit or inlined.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "lexical/search/bit_loops_of_path.h"
#include "lexical/search/window_loops.h"

namespace oneiros::lexical::ONEIROS_PATH {

extern const WindowLoops kWindowLoops;

namespace {

constexpr std::size_t kGroup = kMarkedDocuments;

// Bit i is set if scores[i] >= least, for 32 scores.
#if defined(__AVX512BW__)
inline std::uint32_t at_least(const std::uint16_t* scores, std::uint16_t least) {
  const __m512i all = _mm512_loadu_si512(scores);
  return _mm512_cmpge_epu16_mask(all, _mm512_set1_epi16(static_cast<short>(least)));
}
#elif defined(__AVX2__)
// AVX-512: one comparison of 32 unsigned 16-bit values.
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
// SSE2 has no unsigned comparison: saturating subtraction gives 0 where the score suffices.
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
// Portable form.
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
    for (; marks != 0; marks &= marks - 1) {  // a mark is a byte with value 1
      look((group + static_cast<std::size_t>(__builtin_ctzll(marks)) / 8) * kGroup);
    }
  }
}

// Calls visit(posting, place) for postings [begin, end), one at a time.
template <typename Visit>
inline void for_each_alone(const PackedRun& run, std::size_t begin, std::size_t end, Visit visit) {
  const std::uint64_t mask = (std::uint64_t{1} << run.bits) - 1;
  std::size_t bit = begin * run.bits;
  for (std::size_t i = begin; i < end; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, run.differences + bit / 8, sizeof(word));
    visit(i, static_cast<std::uint32_t>(((word >> (bit % 8)) & mask) + run.shift));
    bit += run.bits;
  }
}

#if defined(__AVX2__)
// Eight differences of a given width start at a byte. Each half is loaded at once; the table says
// which loaded bytes contain a difference and by how many bits it is shifted.
constexpr std::size_t kEight = 8;
constexpr std::uint32_t kMostBits = 25;    // with a shift of up to 7, within four bytes
constexpr std::uint32_t kMostNarrow = 14;  // four of them, with a shift of 4, within eight bytes

// Byte positions and shifts of eight packed differences.
struct EightDifferences {
  alignas(32) std::uint8_t bytes[32];
  alignas(32) std::uint32_t shifts[kEight];
};

// The table for all widths, computed at compile time.
struct EightOfEach {
  constexpr EightOfEach() {
    for (std::uint32_t bits = 0; bits <= kMostBits; ++bits) {
      for (std::uint32_t i = 0; i < kEight; ++i) {
        const std::uint32_t bit = i < 4 ? i * bits : i * bits - bits / 2 * 8;
        for (std::uint32_t byte = 0; byte < 4; ++byte) {
          of[bits].bytes[4 * i + byte] = static_cast<std::uint8_t>(bit / 8 + byte);
        }
        of[bits].shifts[i] = bit % 8;
      }
    }
  }
  EightDifferences of[kMostBits + 1]{};
};
constexpr EightOfEach kEights;
// Narrow differences: eight bytes suffice for four of them.

template <bool IsNarrow>
inline __m128i read_four(const std::uint8_t* bytes) {
  const auto* const from = reinterpret_cast<const __m128i*>(bytes);
  return IsNarrow ? _mm_loadl_epi64(from) : _mm_loadu_si128(from);
}

// The same, eight at a time, as long as no load reaches more than eight bytes past the last
// posting. Returns the first posting not visited.
template <bool IsNarrow, typename Visit>
inline std::size_t for_each_of_eights(const PackedRun& run, std::size_t begin, Visit visit) {
  const EightDifferences& eight = kEights.of[run.bits];
  const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(eight.bytes));
  const __m256i shifts = _mm256_load_si256(reinterpret_cast<const __m256i*>(eight.shifts));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>((1U << run.bits) - 1));
  const __m256i first = _mm256_set1_epi32(static_cast<int>(run.shift));
  const std::size_t half = run.bits / 2;
  const std::uint8_t* const end = run.differences + run.end * run.bits / 8 + 8;
  alignas(32) std::uint32_t places[kEight];
  std::size_t i = begin;
  for (const std::uint8_t* at = run.differences + begin / kEight * run.bits;
       i + kEight <= run.end && (IsNarrow || at + half + 16 <= end); at += run.bits) {
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(read_four<IsNarrow>(at)),
                                                 read_four<IsNarrow>(at + half), 1);
    const __m256i differences =
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(both, bytes), shifts), mask);
    _mm256_store_si256(reinterpret_cast<__m256i*>(places), _mm256_add_epi32(differences, first));
    for (std::size_t j = 0; j < kEight; ++j) {
      visit(i + j, places[j]);
    }
    i += kEight;
  }
  return i;
}
// All postings of a run: single ones up to a byte boundary, then eights, then the rest.

template <typename Visit>
inline void for_each_place(const PackedRun& run, Visit visit) {
  if (run.bits > kMostBits) {
    for_each_alone(run, run.begin, run.end, visit);
    return;
  }
  const std::size_t whole = (run.begin + kEight - 1) / kEight * kEight;
  const std::size_t begin = whole < run.end ? whole : run.end;
  for_each_alone(run, run.begin, begin, visit);
  const std::size_t rest = run.bits <= kMostNarrow ? for_each_of_eights<true>(run, begin, visit)
                                                   : for_each_of_eights<false>(run, begin, visit);
  for_each_alone(run, rest, run.end, visit);
}
#else
template <typename Visit>
inline void for_each_place(const PackedRun& run, Visit visit) {
  for_each_alone(run, run.begin, run.end, visit);
}
#endif
// Adds the values of a run to the window; marks groups in a sparse window.

template <bool IsMarking>
inline void accumulate_run(const PackedRun run, const std::uint16_t* values,
                           const WindowScores window) {
  for_each_place(run, [=](std::size_t i, std::uint32_t place) {
    window.scores[place] = static_cast<std::uint16_t>(window.scores[place] + values[run.codes[i]]);
    if constexpr (IsMarking) {
      window.marks[place / kGroup] = 1;
    }
  });
}

void accumulate(const PackedRun& run, const std::uint16_t* values, const WindowScores& window) {
  if (window.marks == nullptr) {
    accumulate_run<false>(run, values, window);
  } else {
    accumulate_run<true>(run, values, window);
  }
}

// Picks the allowed postings of a run without a window.
std::size_t pick(const PackedRun& run, const std::uint16_t* values, const std::uint8_t* allowed,
                 Candidate* candidates) {
  std::size_t picked = 0;
  for_each_place(run, [&](std::size_t i, std::uint32_t document) {
    if (((allowed[document / 8] >> (document % 8)) & 1U) != 0) {
      candidates[picked++] = {.document = document, .score = values[run.codes[i]]};
    }
  });
  return picked;
}

// Bit i is set if document at + i reaches `least` and is allowed, for 32 documents.
template <bool IsMasked>
inline std::uint32_t found_from(const WindowScores& window, std::size_t at, std::uint16_t least) {
  const std::uint32_t found = at_least(window.scores + at, least);
  if constexpr (IsMasked) {
    std::uint64_t word = 0;
    std::memcpy(&word, window.allowed + (at + window.shift) / 8, sizeof(word));
    return found & static_cast<std::uint32_t>(word >> ((at + window.shift) % 8));
  }
  return found;
}

// Without branches: whether a group has any is unpredictable.
template <bool IsMasked>
std::size_t count_of(const WindowScores window, std::uint16_t least) {
  std::size_t total = 0;
  for_each_group(window, [&](std::size_t at) {
    total += static_cast<std::size_t>(__builtin_popcount(found_from<IsMasked>(window, at, least)));
  });
  return total;
}

std::size_t count(const WindowScores& window, std::uint16_t least) {
  return window.allowed == nullptr ? count_of<false>(window, least) : count_of<true>(window, least);
}
// Collects documents at or above the threshold, and clears the window if it is the last call.

template <bool IsLast, bool IsMasked>
std::size_t take_from(const WindowScores window, std::uint16_t least, WindowCandidate* candidates) {
  std::uint16_t* const scores = window.scores;
  std::size_t taken = 0;
  for_each_group(window, [&](std::size_t at) {
    for (std::uint32_t found = found_from<IsMasked>(window, at, least); found != 0;
         found &= found - 1) {
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
  return window.allowed == nullptr ? take_from<false, false>(window, least, candidates)
                                   : take_from<false, true>(window, least, candidates);
}

std::size_t take_last(const WindowScores& window, std::uint16_t least,
                      WindowCandidate* candidates) {
  return window.allowed == nullptr ? take_from<true, false>(window, least, candidates)
                                   : take_from<true, true>(window, least, candidates);
}

}  // namespace

const WindowLoops kWindowLoops{.accumulate = &accumulate,
                               .pick = &pick,
                               .count = &count,
                               .take = &take,
                               .take_last = &take_last,
                               .count_bits = &count_bits,
                               .find_words = &find_words,
                               .list_words = &list_words};

}  // namespace oneiros::lexical::ONEIROS_PATH
