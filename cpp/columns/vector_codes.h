// Vectors in 4 and in 8 bits per component, with bounds of their inner products with a query.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columns/slab_pool.h"
#include "columns/vector_loops.h"

namespace oneiros {

// What all codes of a column share: the center, about the mean of the vectors, which is subtracted
// from them before they are encoded, and the dither. Any center gives right bounds; one near the
// vectors gives narrow ones.
class ScalarQuantizer {
 public:
  // The center is the mean of those of the sample that have about unit length; zero if none has.
  // The vectors have `width` components.
  ScalarQuantizer(std::span<const float* const> sample, std::size_t width);

  [[nodiscard]] std::span<const float> center() const noexcept { return center_; }
  [[nodiscard]] double center_length() const noexcept { return center_length_; }
  // By component, of whole lines: 8 and the dither, a number of its own in (-0.5, 0.5).
  [[nodiscard]] std::span<const float> shift() const noexcept { return shift_; }

 private:
  std::vector<float> center_;
  double center_length_;
  std::vector<float> shift_;
};

// The codes of `rows` vectors padded to `width`: their upper halves and their lower ones, each in
// lines of the cache (vector_loops.h), apart from their steps. A code must be written before it is
// read. Thread-safe for different rows.
class VectorCodes {
 public:
  // Throws std::bad_alloc. REQUIRES: the pool's places have bytes_of_halves(rows, width); it
  // outlives the codes.
  VectorCodes(std::size_t rows, std::size_t width, SlabPool& pool);

  static constexpr std::size_t bytes_of_halves(std::size_t rows, std::size_t width) {
    return rows * lines_of(width) * kBytesOfLine;
  }
  static constexpr std::size_t bytes_of_code(std::size_t width) {
    return 2 * lines_of(width) * kBytesOfLine + sizeof(std::uint16_t);
  }

  // Encodes a vector. If its distance from the center is above 2^40 or NaN, its step is 0: the code
  // is useless. All codes that are compared with one query have one quantizer. Throws
  // std::bad_alloc.
  void encode(std::size_t row, const float* vector, const ScalarQuantizer& quantizer);
  // Overwrites the code of a row.
  void wipe(std::size_t row) noexcept;

  [[nodiscard]] const std::uint8_t* upper(std::size_t row) const noexcept {
    return line(upper_, row);
  }
  [[nodiscard]] const std::uint8_t* lower(std::size_t row) const noexcept {
    return line(lower_, row);
  }
  // The difference of vectors whose upper halves differ by 1 in a component.
  [[nodiscard]] float step(std::size_t row) const noexcept {
    return std::bit_cast<float>(std::uint32_t{steps_[row]} << 16U);
  }
  // Asks for the steps of rows, ahead of reading them.
  void prefetch_steps(std::size_t row, std::size_t count) const noexcept {
    const auto* const begin = reinterpret_cast<const std::byte*>(&steps_[row]);
    for (std::size_t at = 0; at < count * sizeof(steps_[0]); at += kBytesOfLine) {
      __builtin_prefetch(begin + at, 0, 2);
    }
  }
  // At least the distance from the center of each vector with a step.
  [[nodiscard]] float longest() const noexcept { return longest_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint8_t* line(const SlabPool::Place& halves, std::size_t row) const noexcept {
    return reinterpret_cast<std::uint8_t*>(halves.data()) + row * lines_ * kBytesOfLine;
  }

  std::size_t width_;
  std::size_t lines_;
  SlabPool::Place upper_;
  SlabPool::Place lower_;
  std::unique_ptr<std::uint16_t[]> steps_;  // the upper 16 bits of floats
  std::atomic<float> longest_{0};
};

// Halves of codes that are compared with a query together, by position.
struct ListedHalves {
  std::span<const std::uint8_t* const> bytes;
  std::span<const float> steps;  // 0: nothing is known of the vector
  float longest;                 // see VectorCodes, of all
};

// A query in 15 bits per component.
class EncodedQuery {
 public:
  // REQUIRES: the query is padded with zeros, and as wide as the center.
  EncodedQuery(std::span<const float> query, const ScalarQuantizer& quantizer);

  // False if products with the query cannot be bounded: its length is outside [2^-40, 2^40] or NaN,
  // or it has more than 2^16 components.
  [[nodiscard]] bool has_bounds() const noexcept { return !upper_.empty(); }

  // Writes about what VectorLoops::products returns for the encoded vectors, by the upper halves of
  // their codes, and upper bounds of it. A bound fails with a probability below 2^-58 (see the
  // source). REQUIRES: has_bounds(); all spans have equal sizes.
  void screen(const ListedHalves& halves, std::span<float> near,
              std::span<float> most) const noexcept;

  // Writes lower and upper bounds of the same, by the lower halves and by what screen() wrote to
  // `near`. They are a sixteenth as wide, and as sure. REQUIRES: as above.
  void refine(const ListedHalves& halves, std::span<const float> near, std::span<float> least,
              std::span<float> most) const noexcept;

 private:
  // The terms of a half, with the error of codes whose vectors are at most `longest` from the
  // center.
  [[nodiscard]] QueryOfHalves terms(QueryOfHalves half, float longest) const noexcept;

  std::vector<std::int16_t> components_;
  std::vector<std::int8_t> upper_;  // components: 128 times these
  std::vector<std::int8_t> lower_;  // plus these
  QueryOfHalves screened_;          // without pointers and error
  QueryOfHalves refined_;
  float error_per_length_ = 0;
  float error_of_rounding_ = 0;
};

}  // namespace oneiros
