// Encoding and decoding of embeddings. The checksum is verified before any component is used.
#include "encoding/embedding_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "encoding/byte_reader.h"
#include "encoding/crc32c.h"

namespace oneiros {

namespace {

constexpr std::array<char, 4> kMagic{'O', 'N', 'E', 'V'};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kFloat32 = 0;

template <typename Number>
std::byte* put(std::byte* place, Number number) {
  return std::ranges::copy(to_little_endian(number), place).out;
}

// The position of the first component that is NaN or infinite, or the size.
std::size_t first_not_finite(std::span<const float> embedding) {
  float sum = 0.0F;
  for (const float component : embedding) {
    sum += component * 0.0F;  // NaN as soon as one is not finite, without a branch per component
  }
  if (sum == 0.0F) {
    return embedding.size();
  }
  const auto at = std::ranges::find_if(embedding, [](float x) { return !std::isfinite(x); });
  return static_cast<std::size_t>(at - embedding.begin());
}

[[noreturn]] void refuse_field(const char* field, std::size_t expected, std::size_t found) {
  throw DamagedBytes(std::string(field) + ": expected " + std::to_string(expected) + ", found " +
                     std::to_string(found));
}

// Validates the header and returns the dimension it contains.
std::size_t read_header(ByteReader& reader) {
  if (std::memcmp(reader.take(kMagic.size(), "magic").data(), kMagic.data(), kMagic.size()) != 0) {
    throw DamagedBytes("magic: these bytes are no embedding");
  }
  const auto version = reader.take_number<std::uint16_t>("version");
  if (version != kVersion) {
    refuse_field("version", kVersion, version);
  }
  const auto kind = reader.take_number<std::uint16_t>("kind");
  if (kind != kFloat32) {
    refuse_field("kind", kFloat32, kind);
  }
  return reader.take_number<std::uint32_t>("dimension");
}

}  // namespace

void require_dimension(std::size_t dimension) {
  if (dimension < 1 || dimension > kLargestDimension) {
    throw std::invalid_argument("dimension: must be in 1 to " + std::to_string(kLargestDimension) +
                                ", got " + std::to_string(dimension));
  }
}

std::size_t encoded_dimension(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const std::size_t dimension = read_header(reader);
  if (dimension < 1 || dimension > kLargestDimension || bytes.size() != encoded_size(dimension)) {
    throw DamagedBytes("dimension: " + std::to_string(dimension) + " does not fit " +
                       std::to_string(bytes.size()) + " bytes");
  }
  return dimension;
}

void encode_embedding(std::span<const float> embedding, std::span<std::byte> bytes) {
  assert(bytes.size() == encoded_size(embedding.size()));
  if (const std::size_t at = first_not_finite(embedding); at < embedding.size()) {
    throw std::invalid_argument("component " + std::to_string(at) + " is not finite");
  }
  std::byte* place = std::ranges::copy(std::as_bytes(std::span(kMagic)), bytes.data()).out;
  place = put(place, kVersion);
  place = put(place, kFloat32);
  place = put(place, static_cast<std::uint32_t>(embedding.size()));
  if constexpr (std::endian::native == std::endian::little) {
    place = std::ranges::copy(std::as_bytes(embedding), place).out;
  } else {
    for (const float component : embedding) {
      place = put(place, component);
    }
  }
  put(place, crc32c(bytes.first(bytes.size() - sizeof(std::uint32_t))));
}

void decode_embedding(std::span<const std::byte> bytes, std::span<float> embedding) {
  ByteReader reader(bytes);
  if (const std::size_t found = read_header(reader); found != embedding.size()) {
    refuse_field("dimension", embedding.size(), found);
  }
  reader.take_numbers(embedding, "components");
  const auto checksum = reader.take_number<std::uint32_t>("checksum");
  if (reader.left() != 0) {
    throw DamagedBytes(std::to_string(reader.left()) + " bytes too many");
  }
  if (checksum != crc32c(bytes.first(bytes.size() - sizeof(checksum)))) {
    throw DamagedBytes("checksum: the bytes were changed");
  }
  if (const std::size_t at = first_not_finite(embedding); at < embedding.size()) {
    throw DamagedBytes("component " + std::to_string(at) + " is not finite");
  }
}

}  // namespace oneiros
