#include "encoding/roaring_bits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "encoding/byte_reader.h"
#include "tests/rounds.h"

using oneiros::DamagedBytes;
using oneiros::set_bits_of_roaring;

namespace {

using Rows = std::set<std::uint32_t>;

class Bytes {
 public:
  template <typename Number>
  Bytes& put(Number number) {
    const auto bytes = oneiros::to_little_endian(number);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Rows 65536 * key + 3, + 7 as an array; 20 to 29 and 65530 to 65535 as runs; odd ones as bits.
constexpr std::uint16_t kArrayKey = 1;
constexpr std::uint16_t kRunsKey = 3;
constexpr std::uint16_t kBitsKey = 4;

void put_array(Bytes& bytes) { bytes.put<std::uint16_t>(3).put<std::uint16_t>(7); }
void put_runs(Bytes& bytes) {
  bytes.put<std::uint16_t>(2);
  bytes.put<std::uint16_t>(20).put<std::uint16_t>(9);
  bytes.put<std::uint16_t>(65'530).put<std::uint16_t>(5);
}
void put_bits(Bytes& bytes) {
  for (int i = 0; i < 8'192; ++i) {
    bytes.put<std::uint8_t>(0xAA);
  }
}

std::vector<std::byte> with_runs() {
  Bytes bytes;
  bytes.put<std::uint32_t>(12'347U | (2U << 16U)).put<std::uint8_t>(0b010);
  bytes.put(kArrayKey).put<std::uint16_t>(1);
  bytes.put(kRunsKey).put<std::uint16_t>(15);
  bytes.put(kBitsKey).put<std::uint16_t>(32'767);
  put_array(bytes);
  put_runs(bytes);
  put_bits(bytes);
  return bytes.all();
}

Rows rows_with_runs() {
  Rows rows{65'536 + 3, 65'536 + 7};
  for (std::uint32_t row = 0; row < 65'536; ++row) {
    if ((row >= 20 && row < 30) || row >= 65'530) {
      rows.insert(kRunsKey * 65'536U + row);
    }
    if (row % 2 == 1) {
      rows.insert(kBitsKey * 65'536U + row);
    }
  }
  return rows;
}

std::vector<std::byte> without_runs() {
  Bytes bytes;
  bytes.put<std::uint32_t>(12'346).put<std::uint32_t>(2);
  bytes.put(kArrayKey).put<std::uint16_t>(1);
  bytes.put(kBitsKey).put<std::uint16_t>(32'767);
  bytes.put<std::uint32_t>(24).put<std::uint32_t>(28);
  put_array(bytes);
  put_bits(bytes);
  return bytes.all();
}

Rows rows_of(const std::vector<std::byte>& bitmap, std::size_t row_count) {
  std::vector<std::uint8_t> bits((row_count + 7) / 8);
  set_bits_of_roaring(bitmap, row_count, bits);
  Rows rows;
  for (std::size_t row = 0; row < 8 * bits.size(); ++row) {
    if (((bits[row / 8] >> (row % 8)) & 1U) != 0) {
      rows.insert(static_cast<std::uint32_t>(row));
    }
  }
  return rows;
}

Rows below(const Rows& rows, std::size_t end) {
  return {rows.begin(), rows.lower_bound(static_cast<std::uint32_t>(end))};
}

}  // namespace

TEST_CASE("roaring bits: arrays, runs and bits, cut at any number of rows") {
  const auto expected = rows_with_runs();
  for (const std::size_t count :
       {0U, 1U, 65'539U, 65'540U, 65'541U, 196'627U, 196'632U, 196'636U, 262'139U, 262'144U,
        262'146U, 262'151U, 262'160U, 327'680U, 400'001U}) {
    CAPTURE(count);
    CHECK(rows_of(with_runs(), count) == below(expected, count));
  }
}

TEST_CASE("roaring bits: without runs there are offsets") {
  auto expected = rows_with_runs();
  expected.erase(expected.lower_bound(kRunsKey * 65'536U),
                 expected.lower_bound(kBitsKey * 65'536U));
  CHECK(rows_of(without_runs(), 400'000) == expected);
}

TEST_CASE("roaring bits: of no rows") {
  Bytes none;
  none.put<std::uint32_t>(12'346).put<std::uint32_t>(0);
  CHECK(rows_of(none.all(), 100).empty());
}

TEST_CASE("roaring bits: what was set stays") {
  std::vector<std::uint8_t> bits(50'000, 0x10);
  set_bits_of_roaring(with_runs(), 400'000, bits);
  CHECK(std::ranges::all_of(bits, [](std::uint8_t byte) { return (byte & 0x10) != 0; }));
}

TEST_CASE("roaring bits: a part of a bitmap is refused, whatever is missing") {
  for (const auto& whole : {with_runs(), without_runs()}) {
    std::vector<std::uint8_t> bits(50'000);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::span<const std::byte> part(whole.data(), size);
      REQUIRE_THROWS_AS(set_bits_of_roaring(part, 400'000, bits), DamagedBytes);
    }
  }
  Bytes other;
  other.put<std::uint32_t>(12'345).put<std::uint32_t>(0);
  std::vector<std::uint8_t> bits(1);
  CHECK_THROWS_WITH_AS(set_bits_of_roaring(other.all(), 1, bits),
                       "cookie: no bitmap begins with 12345", DamagedBytes);
  Bytes many;
  many.put<std::uint32_t>(12'346).put<std::uint32_t>(65'537);
  CHECK_THROWS_AS(set_bits_of_roaring(many.all(), 1, bits), DamagedBytes);
}

TEST_CASE("roaring bits: damaged bytes set no bit beyond the last row") {
  std::mt19937 random(1);
  for (int time = 0; time < oneiros::testing::rounds(300); ++time) {
    auto damaged = with_runs();
    for (int i = 0; i < 4; ++i) {
      damaged[random() % 40] = static_cast<std::byte>(random());
    }
    constexpr std::size_t kRows = 300'003;
    std::vector<std::uint8_t> bits((kRows + 7) / 8 + 64);
    try {
      set_bits_of_roaring(damaged, kRows, std::span(bits).first((kRows + 7) / 8));
    } catch (const DamagedBytes&) {
    }
    CHECK(std::ranges::all_of(bits.begin() + kRows / 8 + 1, bits.end(),
                              [](std::uint8_t byte) { return byte == 0; }));
    CHECK((bits[kRows / 8] >> (kRows % 8)) == 0);
  }
}
