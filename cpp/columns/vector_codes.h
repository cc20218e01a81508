// Vectors in 8 bits a component, and bounds of their inner products with a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columns/vector_loops.h"

namespace oneiros {

// The codes of `rows` vectors, all padded to `width`. Each code is written before it is read.
// Thread-safe for different rows.
class VectorCodes {
 public:
  // Throws std::bad_alloc.
  VectorCodes(std::size_t rows, std::size_t width);

  // A code: `width` components, then its Scale.
  struct Scale {
    float scale;  // of the components
    float error;  // a product with a query of length 1 is wrong by no more; infinite: by anything
  };
  static constexpr std::size_t bytes_of_code(std::size_t width) { return width + sizeof(Scale); }

  // Encodes a vector. One whose length is not from 2^-40 to 2^40, or no number, gets a code that
  // says nothing of it.
  void encode(std::size_t row, const float* vector) noexcept;
  // Leaves nothing of a row's vector.
  void wipe(std::size_t row) noexcept;

  [[nodiscard]] const std::int8_t* at(std::size_t row) const noexcept {
    return codes_.get() + row * bytes_of_code(width_);
  }

 private:
  std::size_t width_;
  std::unique_ptr<std::int8_t[]> codes_;
};

// A query in 16 bits a component.
class EncodedQuery {
 public:
  // REQUIRES: the query is padded.
  explicit EncodedQuery(std::span<const float> query);

  // False where codes say nothing of products with the query: its length is not from 2^-40 to 2^40,
  // or no number, or it has more than 2^16 components.
  [[nodiscard]] bool has_bounds() const noexcept { return !components_.empty(); }

  // The code of any vector at all.
  [[nodiscard]] const std::int8_t* unknown_code() const noexcept { return unknown_code_.data(); }

  // Writes what VectorLoops::products gives at least and at most for the vectors of the codes.
  // REQUIRES: has_bounds(); the spans are of one size.
  void bound(std::span<const std::int8_t* const> codes, std::span<float> least,
             std::span<float> most) const noexcept;

 private:
  std::vector<std::int16_t> components_;  // each times scale_
  std::vector<std::int8_t> unknown_code_;
  float scale_ = 0;
  float length_ = 0;  // of the query, rounded up
};

}  // namespace oneiros
