// Inner products of float32 vectors and of their codes, compiled once per SIMD path.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneiros {

// The order of summation, equal on all paths and machines: component i is added to lane i %
// kVectorLanes, from the first component to the last, starting at 0. Then lane i adds lane i + 16,
// then i + 8, i + 4, i + 2, i + 1. All operations are float32 and never fused, so the bits are
// equal everywhere. Zero padding changes no lane.
inline constexpr std::size_t kVectorLanes = 32;

// The size of a padded vector, a multiple of kVectorLanes.
constexpr std::size_t padded_width(std::size_t dimension) {
  return (dimension + kVectorLanes - 1) / kVectorLanes * kVectorLanes;
}

// The result of encoding a vector: component i is about scale * codes[i].
struct EncodedVector {
  float scale;            // the largest magnitude / 127
  float square;           // sum of the squared components
  float residual_square;  // sum of the squared encoding errors; both rounded to float32
};

// Function pointers to one path's loops. Arguments are plain pointers, so that no inline function
// compiled with a path's flags can be shared with other code by the linker.
struct VectorLoops {
  // Inner products of the query with `count` vectors, all padded to `width`.
  void (*products)(const float* query, const float* const* vectors, std::size_t count,
                   std::size_t width, float* products);

  // Inner products, modulo 2^32, of the query with `count` codes.
  void (*code_products)(const std::int16_t* query, const std::int8_t* const* codes,
                        std::size_t count, std::size_t width, std::int32_t* products);

  // Writes the codes of a vector, from -127 to 127. Arbitrary if the vector has a NaN or an
  // infinity, or if no component reaches 2^-100.
  EncodedVector (*encode)(const float* vector, std::size_t width, std::int8_t* codes);
};

// The loops of the SIMD path in use. Thread-safe.
[[nodiscard]] const VectorLoops& vector_loops() noexcept;

}  // namespace oneiros
