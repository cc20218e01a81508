// Inner products of float32 vectors: the loops that a vector search spends its time in, compiled
// for each width of SIMD register.
#pragma once

#include <cstddef>

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

// Plain pointers only: nothing that these are compiled with may reach other code through the
// linker.
struct VectorLoops {
  // Writes the inner product of the query with each of `count` vectors, all padded to `width`.
  void (*products)(const float* query, const float* const* vectors, std::size_t count,
                   std::size_t width, float* products);
};

// Those of the SIMD path in use. Thread-safe.
[[nodiscard]] const VectorLoops& vector_loops() noexcept;

}  // namespace oneiros
