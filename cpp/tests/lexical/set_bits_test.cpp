#include "lexical/filters/set_bits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "simd/path.h"

using namespace oneiros::lexical;

namespace {

void check_bits() {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 84; ++size) {  // and around where lines and pieces end
    const std::size_t byte_count = size < 74 ? size : 1'024 * (size - 73) / 2 + size - 79;
    for (const std::uint32_t one_of : {1, 2, 30, 500}) {
      std::vector<std::uint8_t> bits(byte_count);
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < byte_count * 8; ++i) {
        if (random() % one_of == 0) {
          bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << i % 8);
          expected.push_back(static_cast<std::uint32_t>(i));
        }
      }
      CHECK(list_bits(bits, expected.size()) == expected);
      CHECK(count_bits(bits) == expected.size());
      std::vector<std::uint32_t> unordered = list_bits_unordered(bits, expected.size());
      std::ranges::sort(unordered);
      CHECK(unordered == expected);
    }
  }
}

}  // namespace

TEST_CASE("Bits: all that are set are counted and listed, of any number of bytes") {
  const std::string_view best =
      oneiros::kSimdPathNames[static_cast<std::size_t>(oneiros::simd_path())];
  for (const oneiros::SimdPath path : oneiros::simd_paths()) {
    oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(path)]);
    check_bits();
  }
  oneiros::use_simd_path(best);
}
