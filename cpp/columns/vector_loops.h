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

// A number rounded to 16 bits, as IEEE 754 binary16. REQUIRES: finite.
using Rounded = std::uint16_t;

// Codes have 128 components in a line of the cache: byte j of line l has half a byte of component
// 128 l + j in its lower bits, and of component 128 l + 64 + j in its upper bits.
inline constexpr std::size_t kComponentsOfLine = 128;
inline constexpr std::size_t kBytesOfLine = 64;

// The number of lines of a vector padded to `width`.
constexpr std::size_t lines_of(std::size_t width) {
  return (width + kComponentsOfLine - 1) / kComponentsOfLine;
}

inline constexpr std::size_t kPlacesBeyond = 16;

// Of a vector.
struct Extent {
  float largest;  // magnitude of a component
  float square;   // sum of the squared components, in float32; infinite or NaN if a component is
};

// What screen() and refine() read of a query: of a code's half, the product with the query is
// offset + step * (scale * integers + shift), within step * spread + error.
struct QueryOfHalves {
  const std::int16_t* components = nullptr;
  const std::int8_t* upper = nullptr;  // components: 128 times these, plus the lower ones
  const std::int8_t* lower = nullptr;  // magnitudes of both are at most 127
  std::size_t lines = 0;
  float scale = 0;
  float shift = 0;
  float offset = 0;
  float spread = 0;
  float error = 0;
};

// Function pointers to one path's loops. Arguments are plain pointers, so that no inline function
// compiled with a path's flags can be shared with other code by the linker.
struct VectorLoops {
  // Inner products of the query with `count` vectors, all padded to `width`.
  void (*products)(const float* query, const float* const* vectors, std::size_t count,
                   std::size_t width, float* products);

  // The same with vectors of rounded components, with the bits that their float32 values give.
  void (*rounded_products)(const float* query, const Rounded* const* vectors, std::size_t count,
                           std::size_t width, float* products);

  // Writes the values of `width` rounded components.
  void (*widen)(const Rounded* vector, std::size_t width, float* widened);

  // Writes the products of the query with halves of codes, and upper bounds, which are infinite for
  // a step of 0. The products of integers are computed modulo 2^32.
  void (*screen)(const QueryOfHalves& query, const std::uint8_t* const* halves, const float* steps,
                 std::size_t count, float* near, float* most);

  // Adds the products to `near`, and writes lower and upper bounds of the sums.
  void (*refine)(const QueryOfHalves& query, const std::uint8_t* const* halves, const float* steps,
                 std::size_t count, const float* near, float* least, float* most);

  // Writes the places of the values that reach the bound, in order. Returns their number. REQUIRES:
  // there is room for kPlacesBeyond more places than values.
  std::size_t (*select)(const float* values, std::size_t count, float bound, std::uint32_t* places);

  // Writes x - center, both of `width` components.
  Extent (*subtract)(const float* x, const float* center, std::size_t width, float* difference);

  // Writes the code of a vector, of which component i is about step * ((c + 1/2) / 16 - shift[i]),
  // c = trunc(16 (x / step + shift[i])), into 0..255. REQUIRES: the components are finite, and
  // x / step + shift[i] in [-1, 17]. All arrays have a whole number of lines.
  void (*encode)(const float* vector, const float* shift, float step, std::size_t lines,
                 std::uint8_t* upper, std::uint8_t* lower);
};

// The loops of the SIMD path in use. Thread-safe.
[[nodiscard]] const VectorLoops& vector_loops() noexcept;

// The same with AVX-512 as processors before 2019 have it, without its products of bytes; the loops
// of the path in use otherwise. For tests.
[[nodiscard]] const VectorLoops& vector_loops_without_vnni() noexcept;

}  // namespace oneiros
