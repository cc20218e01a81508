// An embedding as the store keeps it: a header, the components, a checksum.
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

// The bytes that an embedding of this dimension takes.
[[nodiscard]] constexpr std::size_t encoded_size(std::size_t dimension) noexcept {
  return 4 + 2 + 2 + 4 + 4 * dimension + 4;
}

// Throws std::invalid_argument unless `dimension` is in 1 to kLargestDimension.
void require_dimension(std::size_t dimension);

// The dimension that an encoded embedding's header names; its components are not looked at.
// Throws DamagedBytes for a header that encode_embedding() cannot have written, or one that names
// another size than the bytes have.
[[nodiscard]] std::size_t encoded_dimension(std::span<const std::byte> bytes);

// Writes the embedding's bytes. REQUIRES: embedding.size() is in 1 to kLargestDimension and
// bytes.size() == encoded_size(embedding.size()).
// Throws std::invalid_argument, naming the position, for a component that is not finite.
void encode_embedding(std::span<const float> embedding, std::span<std::byte> bytes);

// Reads the embedding back, bit for bit.
// Throws DamagedBytes for bytes that encode_embedding() cannot have written, or of another
// dimension than embedding.size(); nothing is read past their end, `embedding` may be half written
// then.
void decode_embedding(std::span<const std::byte> bytes, std::span<float> embedding);

}  // namespace oneiros
