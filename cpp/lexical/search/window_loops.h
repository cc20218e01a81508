// A window of documents whose scores are gathered side by side in 16-bit whole numbers: the loops
// that a search spends its time in, compiled for each width of SIMD register.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros::lexical {

// Documents of a window where most of them may score: 32 KiB of scores, which the first cache
// holds. Where few do, one of kSparseWindow documents is read by its marks.
inline constexpr std::uint32_t kDenseWindow = 1U << 14U;
inline constexpr std::uint32_t kSparseWindow = 1U << 15U;

// Documents that share a mark.
inline constexpr std::uint32_t kMarkedDocuments = 32;

// A document of a window and its score.
struct WindowCandidate {
  std::uint16_t place;
  std::uint16_t score;
};

// A document of a segment and what it may score.
struct Candidate {
  std::uint32_t document;
  std::uint32_t score;
};

// Postings [begin, end) of a packed block: see PackedBlock.
struct PackedRun {
  const std::uint8_t* codes;
  const std::uint8_t* differences;
  std::uint32_t bits;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t shift;  // to be added to a difference, modulo 2^32, to get the place in the window
};

// The scores of a window and, unless it is a dense one, where some of them are above 0. All are 0
// before the first posting is added. `size` is a multiple of kMarkedDocuments. Of `allowed`, bit
// (i + shift) % 8 of byte (i + shift) / 8 says whether document i of the window is to be counted
// and taken, and eight bytes more than those can be read; null: all are.
struct WindowScores {
  std::uint16_t* scores;
  std::uint8_t* marks;  // null: none
  std::size_t size;
  const std::uint8_t* allowed;
  std::uint32_t shift;
};

// Words of a set's bits that have some, the one behind the other: their bits, and what the lowest
// bit of each stands for.
struct BitWords {
  std::uint64_t* words;
  std::uint32_t* firsts;
};

// Bytes of a set's bits that are looked at together, and as many words.
inline constexpr std::size_t kBitLineBytes = 64;
inline constexpr std::size_t kBitLineWords = kBitLineBytes / sizeof(std::uint64_t);

// Plain pointers only: nothing that these are compiled with may reach other code through the
// linker. All paths give the same answers.
struct WindowLoops {
  // scores[place] += values[code] for each posting.
  void (*accumulate)(const PackedRun& run, const std::uint16_t* values, const WindowScores& window);

  // Writes the document, counted from the one that run.shift is counted from, and the value of each
  // posting that the bits allow to `candidates`, which has room for all; returns their number.
  std::size_t (*pick)(const PackedRun& run, const std::uint16_t* values,
                      const std::uint8_t* allowed, Candidate* candidates);

  // How many of the scores are `least` or more. REQUIRES: least >= 1.
  std::size_t (*count)(const WindowScores& window, std::uint16_t least);

  // Writes those to `candidates`, which has room for all, in order; returns their number.
  // REQUIRES: least >= 1.
  std::size_t (*take)(const WindowScores& window, std::uint16_t least, WindowCandidate* candidates);

  // The same, and makes all scores and marks 0.
  std::size_t (*take_last)(const WindowScores& window, std::uint16_t least,
                           WindowCandidate* candidates);

  // How many bits of so many bytes are set.
  std::size_t (*count_bits)(const std::uint8_t* bytes, std::size_t size);

  // Writes the words that have bits, of so many lines, whose first bit stands for `first`, to
  // `found`, which has room for all and a line more; returns their number.
  std::size_t (*find_words)(const std::uint8_t* bytes, std::size_t line_count, std::uint32_t first,
                            const BitWords& found);

  // Writes what the bits of so many words stand for to `listed`, in any order; returns their
  // number. `listed` has room for 64 a word; the words are lost. REQUIRES: each has bits.
  std::size_t (*list_words)(const BitWords& found, std::size_t count, std::uint32_t* listed);
};

// Those of the SIMD path in use.
const WindowLoops& window_loops() noexcept;

}  // namespace oneiros::lexical
