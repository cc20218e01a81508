#include "lexical/set_bits.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace oneiros::lexical;

TEST_CASE("Bits: all that are set are counted and met, of any number of bytes") {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    for (const std::uint32_t one_of : {1, 2, 30, 500}) {
      std::vector<std::uint8_t> bits(size);
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < size * 8; ++i) {
        if (random() % one_of == 0) {
          bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << i % 8);
          expected.push_back(i);
        }
      }
      std::vector<std::size_t> met;
      for_each_bit(bits, [&met](std::size_t bit) { met.push_back(bit); });
      CHECK(met == expected);
      CHECK(count_bits(bits) == expected.size());
    }
  }
}
