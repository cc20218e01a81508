#include "encoding/embedding_codec.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "encoding/byte_reader.h"
#include "encoding/crc32c.h"

using oneiros::DamagedBytes;

namespace {

const std::vector<float> kEmbedding{0.6F, -0.8F, 0.0F, -0.0F,
                                    std::numeric_limits<float>::denorm_min()};

std::vector<std::byte> encoded() {
  std::vector<std::byte> bytes(oneiros::encoded_size(kEmbedding.size()));
  oneiros::encode_embedding(kEmbedding, bytes);
  return bytes;
}

// Decodes from memory of exactly this size, so that a sanitizer sees a read past its end.
void decode(std::span<const std::byte> bytes, std::size_t dimension) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::ranges::copy(bytes, exact.get());
  std::vector<float> embedding(dimension);
  oneiros::decode_embedding({exact.get(), bytes.size()}, embedding);
}

void sign(std::vector<std::byte>& bytes) {
  const auto body = std::span(bytes).first(bytes.size() - 4);
  std::ranges::copy(oneiros::to_little_endian(oneiros::crc32c(body)), bytes.end() - 4);
}

}  // namespace

TEST_CASE("embedding codec: what was written is read, bit for bit") {
  std::vector<float> read(kEmbedding.size());
  oneiros::decode_embedding(encoded(), read);
  CHECK(read == kEmbedding);
  CHECK(std::signbit(read[3]));
}

TEST_CASE("embedding codec: every flipped bit is found") {
  const std::vector<std::byte> good = encoded();
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    REQUIRE_THROWS_AS(decode(bad, kEmbedding.size()), DamagedBytes);
  }
}

TEST_CASE("embedding codec: every truncation and every surplus is found") {
  std::vector<std::byte> bytes = encoded();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE_THROWS_AS(decode(std::span(bytes).first(size), kEmbedding.size()), DamagedBytes);
  }
  bytes.push_back(std::byte{0});
  CHECK_THROWS_WITH_AS(decode(bytes, kEmbedding.size()), "1 bytes too many", DamagedBytes);
}

TEST_CASE("embedding codec: another dimension is refused, whatever the header says") {
  CHECK_THROWS_WITH_AS(decode(encoded(), 4), "dimension: expected 4, found 5", DamagedBytes);
  CHECK_THROWS_AS(decode(encoded(), oneiros::kLargestDimension), DamagedBytes);
  std::vector<std::byte> bytes = encoded();
  bytes[8] = std::byte{6};  // a signed lie
  sign(bytes);
  CHECK_THROWS_WITH_AS(decode(bytes, 6), "checksum: needs 4 bytes, 0 are left", DamagedBytes);
  CHECK_THROWS_AS(decode(bytes, 5), DamagedBytes);
}

TEST_CASE("embedding codec: signed bytes that make no sense are refused") {
  std::vector<std::byte> bytes = encoded();
  std::ranges::copy(oneiros::to_little_endian(NAN), bytes.begin() + 16);
  sign(bytes);
  CHECK_THROWS_WITH_AS(decode(bytes, kEmbedding.size()), "component 1 is not finite", DamagedBytes);
  bytes = encoded();
  bytes[4] = std::byte{2};
  sign(bytes);
  CHECK_THROWS_WITH_AS(decode(bytes, kEmbedding.size()), "version: expected 1, found 2",
                       DamagedBytes);
}

TEST_CASE("embedding codec: what cannot be stored is refused") {
  const std::array bad{1.0F, std::numeric_limits<float>::infinity()};
  std::vector<std::byte> bytes(oneiros::encoded_size(bad.size()));
  CHECK_THROWS_WITH_AS(oneiros::encode_embedding(bad, bytes), "component 1 is not finite",
                       std::invalid_argument);
  CHECK_THROWS_AS(oneiros::require_dimension(0), std::invalid_argument);
  CHECK_THROWS_AS(oneiros::require_dimension(oneiros::kLargestDimension + 1),
                  std::invalid_argument);
  CHECK_NOTHROW(oneiros::require_dimension(oneiros::kLargestDimension));
}
