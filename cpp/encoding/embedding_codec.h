// The stored form of an embedding: a header, the components, a checksum.
//
//   bytes          what
//   4              "ONEV"
//   2              version, 1
//   2              kind of component, 0 = float32
//   4              dimension
//   4 x dimension  components
//   4              CRC-32C of all of the above
//
// All numbers are little-endian.
#pragma once

#include <cstddef>
#include <span>

namespace oneiros {

inline constexpr std::size_t kLargestDimension = 65'536;

// The encoded size of an embedding, in bytes.
[[nodiscard]] constexpr std::size_t encoded_size(std::size_t dimension) noexcept {
  return 4 + 2 + 2 + 4 + 4 * dimension + 4;
}

// Throws std::invalid_argument unless `dimension` is from 1 to kLargestDimension.
void require_dimension(std::size_t dimension);

// The dimension in the header; the components are not read. Throws DamagedBytes for a header that
// encode_embedding() cannot have written, or a dimension that does not match the size.
[[nodiscard]] std::size_t encoded_dimension(std::span<const std::byte> bytes);

// Encodes an embedding. Throws std::invalid_argument naming the position of a component that is not
// finite. REQUIRES: embedding.size() is from 1 to kLargestDimension and bytes.size() ==
// encoded_size(embedding.size()).
void encode_embedding(std::span<const float> embedding, std::span<std::byte> bytes);

// Decodes an embedding, bit for bit. Throws DamagedBytes for bytes that encode_embedding() cannot
// have written, and for a dimension other than embedding.size(); `embedding` may be partly written
// then, and nothing is read out of bounds.
void decode_embedding(std::span<const std::byte> bytes, std::span<float> embedding);

}  // namespace oneiros
