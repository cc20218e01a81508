// Vectors in 8 bits per component, with bounds of their inner products with a query.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columns/vector_loops.h"

namespace oneiros {

// What is subtracted from vectors before they are encoded: about their mean. Any center gives right
// bounds; one near the vectors gives narrow ones.
class CodeCenter {
 public:
  // The mean of those of the sample that have about unit length; zero if none has. The vectors have
  // `width` components.
  CodeCenter(std::span<const float* const> sample, std::size_t width);

  [[nodiscard]] std::span<const float> values() const noexcept { return values_; }
  [[nodiscard]] double length() const noexcept { return length_; }

 private:
  std::vector<float> values_;
  double length_;
};

// The codes of `rows` vectors padded to `width`: components in lines of the cache, apart from their
// scales. A code must be written before it is read. Thread-safe for different rows.
class VectorCodes {
 public:
  // Throws std::bad_alloc.
  VectorCodes(std::size_t rows, std::size_t width);

  struct Scale {
    float unit;  // value of a component's unit
    // The largest error of a product with a query of unit length; infinite: the code is useless.
    float error;
  };
  static constexpr std::size_t bytes_of_code(std::size_t width) { return width + sizeof(Scale); }

  // Encodes a vector. If its distance from the center is above 2^40 or NaN, the code has an
  // infinite error. All codes that are compared with one query have one center. Throws
  // std::bad_alloc.
  void encode(std::size_t row, const float* vector, const CodeCenter& center);
  // Overwrites the code of a row.
  void wipe(std::size_t row) noexcept;

  // The `width` components of a code.
  [[nodiscard]] const std::int8_t* at(std::size_t row) const noexcept {
    return lines_[0].components.data() + row * width_;
  }
  [[nodiscard]] const Scale& scale_of(std::size_t row) const noexcept { return scales_[row]; }

 private:
  struct alignas(64) Line {
    std::array<std::int8_t, 64> components;
  };

  [[nodiscard]] std::int8_t* components_of(std::size_t row) noexcept {
    return lines_[0].components.data() + row * width_;
  }

  std::size_t width_;
  std::unique_ptr<Line[]> lines_;
  std::unique_ptr<Scale[]> scales_;
};

// Codes that are compared with a query together, by position.
struct ListedCodes {
  std::span<const std::int8_t* const> components;
  std::span<const float> units;
  std::span<const float> errors;  // infinite: nothing is known of the vector
};

// A query in 16 bits per component.
class EncodedQuery {
 public:
  // REQUIRES: the query is padded with zeros, and as wide as the center.
  EncodedQuery(std::span<const float> query, const CodeCenter& center);

  // False if products with the query cannot be bounded: its length is outside [2^-40, 2^40] or NaN,
  // or it has more than 2^16 components.
  [[nodiscard]] bool has_bounds() const noexcept { return !components_.empty(); }

  // Writes lower and upper bounds of what VectorLoops::products returns for the encoded vectors.
  // REQUIRES: has_bounds(); all spans have equal sizes.
  void bound(const ListedCodes& codes, std::span<float> least,
             std::span<float> most) const noexcept;

 private:
  std::vector<std::int16_t> components_;  // components times scale_
  float scale_ = 0;
  float length_ = 0;     // of the query, rounded up
  float of_center_ = 0;  // product with the center
};

}  // namespace oneiros
