#include "encoding/row_checksum.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TEST_CASE("row_checksum: a number counts by what it says") {
  const std::uint64_t salt = oneiros::column_salt("strength");
  CHECK(oneiros::cell_checksum(salt, std::int64_t{5}) == oneiros::cell_checksum(salt, 5.0));
  CHECK(oneiros::cell_checksum(salt, 0.0) == oneiros::cell_checksum(salt, -0.0));
  CHECK(oneiros::cell_checksum(salt, kNan) == 0);
  CHECK(oneiros::cell_checksum(salt, 0.0) != 0);
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  CHECK(oneiros::cell_checksum(salt, large) != oneiros::cell_checksum(salt, large - 1));
  CHECK(oneiros::cell_checksum(salt, large) !=
        oneiros::cell_checksum(salt, static_cast<double>(large)));
}

TEST_CASE("row_checksum: column, kind and length tell cells apart") {
  const std::uint64_t one = oneiros::column_salt("one");
  const std::uint64_t other = oneiros::column_salt("other");
  const std::set<std::uint64_t> found = {
      oneiros::cell_checksum(one, 1.0),
      oneiros::cell_checksum(other, 1.0),
      oneiros::text_checksum(one, bytes_of("")),
      oneiros::bytes_checksum(one, bytes_of("")),
      oneiros::text_checksum(one, bytes_of(std::string_view("\0", 1))),
      oneiros::text_checksum(one, bytes_of("1")),
      oneiros::text_checksum(other, bytes_of("1")),
  };
  CHECK(found.size() == 7);
  CHECK(found.count(0) == 0);
}

TEST_CASE("row_checksum: every flipped bit of a cell gives another checksum") {
  const std::uint64_t salt = oneiros::column_salt("text");
  std::string text(97, 'q');
  const std::uint64_t before = oneiros::text_checksum(salt, bytes_of(text));
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    CHECK(oneiros::text_checksum(salt, bytes_of(text)) != before);
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  }
  CHECK(oneiros::text_checksum(salt, bytes_of(text)) == before);
}

TEST_CASE("row_checksum: what stands in files stays what it is") {
  CHECK(oneiros::column_salt("text") == 17393526351977402056U);
  CHECK(oneiros::cell_checksum(1, 0.5) == 14278547173934243463U);
  CHECK(oneiros::text_checksum(1, bytes_of("123456789")) == 12429227542675989157U);
}
