// The bits of a set, eight a byte, the lowest first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace oneiros::lexical {

// Calls visit(first bit, word) for each eight bytes; those past the end are 0.
template <typename Visit>
void for_each_word(std::span<const std::uint8_t> bits, Visit visit) {
  for (std::size_t at = 0; at < bits.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits.data() + at, std::min(sizeof(word), bits.size() - at));
    visit(at * 8, word);
  }
}

inline std::size_t count_bits(std::span<const std::uint8_t> bits) {
  std::size_t count = 0;
  for_each_word(bits, [&count](std::size_t /*first*/, std::uint64_t word) {
    count += static_cast<std::size_t>(std::popcount(word));
  });
  return count;
}

// Calls visit(bit) for each that is set, ascending.
template <typename Visit>
void for_each_bit(std::span<const std::uint8_t> bits, Visit visit) {
  for_each_word(bits, [&visit](std::size_t first, std::uint64_t word) {
    for (; word != 0; word &= word - 1) {
      visit(first + static_cast<std::size_t>(std::countr_zero(word)));
    }
  });
}

}  // namespace oneiros::lexical
