#include "encoding/byte_reader.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using oneiros::ByteReader;
using oneiros::DamagedBytes;

TEST_CASE("ByteReader: numbers are little-endian, in order") {
  const std::array bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0xff}, std::byte{4},
                         std::byte{5}, std::byte{6}, std::byte{7}, std::byte{0}};
  ByteReader reader(bytes);
  CHECK(reader.take_number<std::uint16_t>("first") == 0x0201);
  CHECK(reader.take_number<std::int16_t>("second") == static_cast<std::int16_t>(0xff03));
  CHECK(reader.take_number<std::uint32_t>("third") == 0x07060504U);
  CHECK(reader.left() == 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(reader.take_number<double>("fourth")),
                       "fourth: needs 8 bytes, 1 are left", DamagedBytes);
  CHECK(reader.left() == 1);  // a refused take takes nothing
}

TEST_CASE("ByteReader: a length that no memory holds is refused, not added up") {
  const std::array bytes{std::byte{1}, std::byte{2}};
  ByteReader reader(bytes);
  static_cast<void>(reader.take(1, "first"));
  CHECK_THROWS_AS(static_cast<void>(reader.take(SIZE_MAX, "huge")), DamagedBytes);
  CHECK(reader.take(1, "last").size() == 1);
  CHECK(reader.take(0, "nothing").empty());
}

TEST_CASE("ByteReader: many numbers at once") {
  std::array<std::byte, 8> bytes{};
  const auto one = oneiros::to_little_endian(1.5F);
  const auto two = oneiros::to_little_endian(-2.0F);
  std::ranges::copy(one, bytes.begin());
  std::ranges::copy(two, bytes.begin() + 4);
  ByteReader reader(bytes);
  std::array<float, 2> numbers{};
  reader.take_numbers(std::span<float>(numbers), "numbers");
  CHECK(numbers == std::array{1.5F, -2.0F});
  CHECK_THROWS_AS(reader.take_numbers(std::span<float>(numbers), "numbers"), DamagedBytes);
}
