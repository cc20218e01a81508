// The inner loops of impact search, compiled once per SIMD path: adding postings to a window of
// 16-bit scores, and finding the documents that reach a threshold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros::lexical {

// Sizes of a window, in documents. The dense one has 32 KiB of scores, which fit the first-level
// cache. The sparse one is read by its marks, so that untouched parts cost little.
inline constexpr std::uint32_t kDenseWindow = 1U << 14U;
inline constexpr std::uint32_t kSparseWindow = 1U << 15U;

// Documents per mark.
inline constexpr std::uint32_t kMarkedDocuments = 32;

// A document, relative to the window, with its score.
struct WindowCandidate {
  std::uint16_t place;
  std::uint16_t score;
};

// A document of the segment with its upper bound.
struct Candidate {
  std::uint32_t document;
  std::uint32_t score;
};

// Postings [begin, end) of a packed block; see PackedBlock.
struct PackedRun {
  const std::uint8_t* codes;
  const std::uint8_t* differences;
  std::uint32_t bits;
  std::uint32_t begin;
  std::uint32_t end;
  // Added to a difference, modulo 2^32, gives the place in the window.
  std::uint32_t shift;
};

// The scores of a window and, in a sparse one, a mark per group that has some above 0. All zero
// before the first posting. `size` is a multiple of kMarkedDocuments. Bit (i + shift) % 8 of
// allowed[(i + shift) / 8] is set if document i may be counted and taken; eight more bytes must be
// readable. Null: all documents.
struct WindowScores {
  std::uint16_t* scores;
  std::uint8_t* marks;  // null: dense
  std::size_t size;
  const std::uint8_t* allowed;
  std::uint32_t shift;
};

// The non-zero 64-bit words of a bit set, compacted, with the number that each word's lowest bit
// stands for.
struct BitWords {
  std::uint64_t* words;
  std::uint32_t* firsts;
};

// Bit sets are processed in lines of a cache line.
inline constexpr std::size_t kBitLineBytes = 64;
inline constexpr std::size_t kBitLineWords = kBitLineBytes / sizeof(std::uint64_t);

// Function pointers to one path's loops. Arguments are plain pointers, so that no inline function
// compiled with a path's flags can be shared with other code by the linker. All paths give the same
// results, to the bit.
struct WindowLoops {
  // scores[place] += values[code] for each posting.
  void (*accumulate)(const PackedRun& run, const std::uint16_t* values, const WindowScores& window);

  // Writes the document (relative to run.shift) and value of each posting that `allowed` permits to
  // `candidates`, with room for all. Returns their number.
  std::size_t (*pick)(const PackedRun& run, const std::uint16_t* values,
                      const std::uint8_t* allowed, Candidate* candidates);

  // The number of scores >= least. REQUIRES: least >= 1.
  std::size_t (*count)(const WindowScores& window, std::uint16_t least);

  // Writes those documents in order to `candidates`, with room for all. Returns their number.
  // REQUIRES: least >= 1.
  std::size_t (*take)(const WindowScores& window, std::uint16_t least, WindowCandidate* candidates);

  // The same, and clears all scores and marks.
  std::size_t (*take_last)(const WindowScores& window, std::uint16_t least,
                           WindowCandidate* candidates);

  // The number of bits set in `size` bytes.
  std::size_t (*count_bits)(const std::uint8_t* bytes, std::size_t size);

  // Writes the non-zero words of `line_count` lines to `found`, with room for all and one line
  // more; returns their number. `first` is the number of the first bit.
  std::size_t (*find_words)(const std::uint8_t* bytes, std::size_t line_count, std::uint32_t first,
                            const BitWords& found);

  // Writes the numbers of all set bits to `listed`, with room for 64 per word, in no particular
  // order; returns their number. The words are overwritten. REQUIRES: no word is 0.
  std::size_t (*list_words)(const BitWords& found, std::size_t count, std::uint32_t* listed);
};

// The loops of the SIMD path in use. Chosen once per process; see simd/path.h.
const WindowLoops& window_loops() noexcept;

}  // namespace oneiros::lexical
