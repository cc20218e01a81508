#include "encoding/crc32c.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = 7;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace

TEST_CASE("crc32c: the published vectors (RFC 3720, appendix B.4)") {
  CHECK(oneiros::crc32c(bytes_of("123456789")) == 0xe3069283U);
  CHECK(oneiros::crc32c({}) == 0U);
  CHECK(oneiros::crc32c(std::vector<std::byte>(32, std::byte{0})) == 0x8a9136aaU);
  CHECK(oneiros::crc32c(std::vector<std::byte>(32, std::byte{0xff})) == 0x62a8ab43U);
  std::vector<std::byte> rising(32);
  for (std::size_t i = 0; i < rising.size(); ++i) {
    rising[i] = static_cast<std::byte>(i);
  }
  CHECK(oneiros::crc32c(rising) == 0x46dd794eU);
}

TEST_CASE("crc32c: the instruction and the tables agree at every length and offset") {
  const std::vector<std::byte> bytes = pattern(300);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(begin, size);
      REQUIRE(oneiros::crc32c(part) == oneiros::crc32c_by_tables(part));
    }
  }
}

TEST_CASE("crc32c: the instruction and the tables agree where stretches are summed side by side") {
  constexpr std::size_t kBlock = 3 * 4096;
  const std::vector<std::byte> bytes = pattern(3 * kBlock + 50);
  for (const std::size_t size : {kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 9, bytes.size()}) {
    for (const std::uint32_t before : {0U, 1U, 0xe3069283U}) {
      const auto part = std::span(bytes).first(size);
      CHECK(oneiros::crc32c(part, before) == oneiros::crc32c_by_tables(part, before));
    }
  }
}

TEST_CASE("crc32c: a checksum goes on where another ended") {
  const std::vector<std::byte> bytes = pattern(100);
  const auto all = std::span(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::uint32_t front = oneiros::crc32c(all.first(cut));
    REQUIRE(oneiros::crc32c(all.subspan(cut), front) == oneiros::crc32c(all));
    REQUIRE(oneiros::crc32c_by_tables(all.subspan(cut), front) == oneiros::crc32c(all));
  }
}

TEST_CASE("crc32c: sums of parts are joined to that of the whole") {
  const std::vector<std::byte> bytes = pattern(100'000);
  const auto whole = std::span(bytes);
  for (const std::size_t size : {0U, 1U, 2U, 7U, 8U, 255U, 4096U, 12'288U, 65'537U, 100'000U}) {
    CHECK(oneiros::crc32c_joined(oneiros::crc32c(whole.first(size)),
                                 oneiros::crc32c(whole.subspan(size)),
                                 whole.size() - size) == oneiros::crc32c_by_tables(whole));
  }
}
