// A posting's frequency and its document's length in one byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/search/bm25.h"

namespace oneiros::lexical {

// A range of frequencies and one of lengths, ends included.
struct ImpactCell {
  std::uint32_t lowest_frequency = 1;
  std::uint32_t highest_frequency = 1;
  std::uint32_t shortest = 0;
  std::uint32_t longest = 0;

  bool tells_frequency() const { return lowest_frequency == highest_frequency; }
};

// The cells of one segment: each pair of frequency and length that occurs in it lies in one, and a
// posting keeps that one's number, its code. What a pair earns is bounded by its cell's highest
// frequency and shortest length: at any average length, so no later write makes a bound wrong. Up
// to kCount distinct pairs have a cell of their own; beyond, neighbours in length share, and
// frequencies from kCoarse on come in octaves.
class ImpactCells {
 public:
  static constexpr std::size_t kCount = 256;
  static constexpr std::uint32_t kCoarse = 16;

  ImpactCells() = default;  // none
  // REQUIRES: at most kCount.
  explicit ImpactCells(std::vector<ImpactCell> cells);

  std::span<const ImpactCell> cells() const { return cells_; }
  std::size_t resident_bytes() const {
    return cells_.capacity() * sizeof(ImpactCell) + longest_first_.capacity() +
           (highest_frequencies_.capacity() + shortest_lengths_.capacity() +
            lowest_frequencies_.capacity() + longest_lengths_.capacity()) *
               sizeof(double);
  }
  const ImpactCell& operator[](std::uint8_t code) const { return cells_[code]; }
  // All codes, that of the cell with the longest documents first.
  std::span<const std::uint8_t> longest_first() const { return longest_first_; }

  // Writes for each cell what its pairs earn at most and at least. Returns what share of the most
  // any pair earns at least. REQUIRES: most.size() == least.size() == cells().size().
  double bound(const Bm25& bm25, double average_length, std::span<double> most,
               std::span<double> least) const;

 private:
  std::vector<ImpactCell> cells_;
  std::vector<std::uint8_t> longest_first_;
  // The best pair of each, side by side, and the worst.
  std::vector<double> highest_frequencies_;
  std::vector<double> shortest_lengths_;
  std::vector<double> lowest_frequencies_;
  std::vector<double> longest_lengths_;
  bool is_exact_ = true;  // no cell is of more than one pair
};

// Finds the cells for a segment's pairs, and each pair's cell.
class ImpactEncoder {
 public:
  ImpactEncoder();

  // REQUIRES: frequency >= 1; assign() was not called.
  void add(std::uint32_t frequency, std::uint32_t length);

  // Makes the cells, the best first. Within one, at these statistics, pairs of one frequency differ
  // as little in what they earn as kCount cells allow.
  ImpactCells assign(const Bm25& bm25, double average_length);

  // REQUIRES: assign() was called, and add() with this pair before it.
  std::uint8_t encode(std::uint32_t frequency, std::uint32_t length) const;

 private:
  // Frequencies below kCoarse have a class each, those from there on one an octave.
  static constexpr std::size_t kClasses = ImpactCells::kCoarse - 1 + 28;
  static constexpr std::uint32_t kUsualLengths = 4096;
  static constexpr std::size_t kUsualClasses = 4;

  // One cell's share of a class: the lengths from `shortest` up to the next one's.
  struct Part {
    std::uint32_t shortest;
    std::uint8_t code;
  };

  static std::size_t class_of(std::uint32_t frequency);
  void gather_usual();
  std::vector<ImpactCell> cut(const Bm25& bm25, double average_length, double tolerance,
                              std::size_t limit) const;

  // By frequency and length, whether the pair occurs; later its code.
  std::vector<std::uint8_t> usual_;
  std::array<std::vector<std::uint32_t>, kClasses> lengths_;  // ascending once assigned
  std::array<std::uint64_t, kClasses> last_length_{};         // most lengths repeat at once
  std::array<std::size_t, kClasses> most_unsorted_{};  // lengths before they are looked through
  std::array<std::vector<Part>, kClasses> parts_;
};

}  // namespace oneiros::lexical
