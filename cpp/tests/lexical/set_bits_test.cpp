#include "lexical/set_bits.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace oneiros::lexical;

TEST_CASE("Bits: all that are set are counted and listed, of any number of bytes") {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 160; ++size) {  // and around where pieces end
    const std::size_t byte_count = size < 150 ? size : 2'048 * (size - 149) + size - 155;
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
    }
  }
}
