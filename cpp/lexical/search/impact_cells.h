// Impact codes: one byte per posting that bounds its contribution to a score.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/search/bm25.h"

namespace oneiros::lexical {

// A range of frequencies and a range of document lengths, ends included.
struct ImpactCell {
  std::uint32_t lowest_frequency = 1;
  std::uint32_t highest_frequency = 1;
  std::uint32_t shortest = 0;
  std::uint32_t longest = 0;

  // True if the code determines the frequency, so that it needs not be stored.
  bool tells_frequency() const { return lowest_frequency == highest_frequency; }
};

// The cells of a segment. Each (frequency, length) pair of a posting lies in exactly one cell,
// whose number is the posting's code. A pair's contribution is at most that of the cell's highest
// frequency and shortest length, for any average length: later writes cannot invalidate a bound. Up
// to kCount distinct pairs have a cell each; otherwise neighbouring lengths share cells, and
// frequencies from kCoarse on are grouped by octaves. Immutable.
class ImpactCells {
 public:
  static constexpr std::size_t kCount = 256;
  static constexpr std::uint32_t kCoarse = 16;

  ImpactCells() = default;  // no cells
  // REQUIRES: at most kCount cells.
  explicit ImpactCells(std::vector<ImpactCell> cells);

  std::span<const ImpactCell> cells() const { return cells_; }
  std::size_t resident_bytes() const {
    return cells_.capacity() * sizeof(ImpactCell) + longest_first_.capacity() +
           (highest_frequencies_.capacity() + shortest_lengths_.capacity() +
            lowest_frequencies_.capacity() + longest_lengths_.capacity()) *
               sizeof(double);
  }
  const ImpactCell& operator[](std::uint8_t code) const { return cells_[code]; }
  // All codes, ordered by the cell's longest length, descending.
  std::span<const std::uint8_t> longest_first() const { return longest_first_; }

  // Writes the greatest and the least contribution of each cell's pairs, before the idf. Returns a
  // factor: every pair contributes at least that share of its cell's greatest contribution.
  // Rounding is accounted for. REQUIRES: most.size() == least.size() == cells().size().
  double bound(const Bm25& bm25, double average_length, std::span<double> most,
               std::span<double> least) const;

 private:
  std::vector<ImpactCell> cells_;
  std::vector<std::uint8_t> longest_first_;
  // The best and the worst pair of each cell, as separate arrays for vectorised evaluation.
  std::vector<double> highest_frequencies_;
  std::vector<double> shortest_lengths_;
  std::vector<double> lowest_frequencies_;
  std::vector<double> longest_lengths_;
  bool is_exact_ = true;  // each cell has one pair
};

// Chooses the cells for a segment's postings and encodes them. Usage: add() all pairs, assign(),
// then encode(). Not thread-safe until assigned.
class ImpactEncoder {
 public:
  ImpactEncoder();

  // Records a pair. REQUIRES: frequency >= 1; assign() was not called.
  void add(std::uint32_t frequency, std::uint32_t length);

  // Chooses the cells, numbered from the best to the worst. Lengths share a cell as long as
  // contributions differ by less than a tolerance, the smallest for which kCount cells suffice.
  ImpactCells assign(const Bm25& bm25, double average_length);

  // The code of a pair. REQUIRES: assign() was called, and add() with this pair before.
  std::uint8_t encode(std::uint32_t frequency, std::uint32_t length) const;

 private:
  // Each frequency below kCoarse is a class; from there on each octave is one.
  static constexpr std::size_t kClasses = ImpactCells::kCoarse - 1 + 28;
  static constexpr std::uint32_t kUsualLengths = 4096;
  static constexpr std::size_t kUsualClasses = 4;

  // A cell's part of a class: the lengths from `shortest` up to the next part's.
  struct Part {
    std::uint32_t shortest;
    std::uint8_t code;
  };

  static std::size_t class_of(std::uint32_t frequency);
  void gather_usual();
  std::vector<ImpactCell> cut(const Bm25& bm25, double average_length, double tolerance,
                              std::size_t limit) const;

  // By frequency and length: 1 if the pair occurs; after assign() its code.
  std::vector<std::uint8_t> usual_;
  std::array<std::vector<std::uint32_t>, kClasses> lengths_;  // ascending after assign()
  std::array<std::uint64_t, kClasses> last_length_{};  // skips repetitions, which are frequent
  // The number of lengths at which duplicates are removed.
  std::array<std::size_t, kClasses> most_unsorted_{};
  std::array<std::vector<Part>, kClasses> parts_;
};

}  // namespace oneiros::lexical
