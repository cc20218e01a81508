// Inner products of float32 vectors and of their codes: the loops that a vector search spends its
// time in, compiled for each width of SIMD register.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros {

// Component i of a product is added to lane i % kVectorLanes, from the first component to the last,
// each lane from 0 on. Then lane i takes lane i + 16, of 16 lanes i + 8, then i + 4, i + 2, i + 1.
// Products and sums are float32 and never fused, so all paths and machines give the same bits.
// A component of 0 changes no lane: a vector may be padded with zeros.
inline constexpr std::size_t kVectorLanes = 32;

// The components of a padded vector, a multiple of kVectorLanes.
constexpr std::size_t padded_width(std::size_t dimension) {
  return (dimension + kVectorLanes - 1) / kVectorLanes * kVectorLanes;
}

// What the code of a vector leaves of it: component i is about scale * codes[i].
struct EncodedVector {
  float scale;            // the largest component / 127
  float square;           // the sum of the components' squares,
  float residual_square;  // and of the squares of what the codes miss: both to float32 rounding
};

// Plain pointers only: nothing that these are compiled with may reach other code through the
// linker.
struct VectorLoops {
  // Writes the inner product of the query with each of `count` vectors, all padded to `width`.
  void (*products)(const float* query, const float* const* vectors, std::size_t count,
                   std::size_t width, float* products);

  // Writes the inner product, modulo 2^32, of the query with each of `count` codes.
  void (*code_products)(const std::int16_t* query, const std::int8_t* const* codes,
                        std::size_t count, std::size_t width, std::int32_t* products);

  // Writes the codes of a vector, from -127 to 127. Any value may be written where the vector has
  // a NaN or an infinity, or no component of 2^-100 or more.
  EncodedVector (*encode)(const float* vector, std::size_t width, std::int8_t* codes);
};

// Those of the SIMD path in use. Thread-safe.
[[nodiscard]] const VectorLoops& vector_loops() noexcept;

}  // namespace oneiros
