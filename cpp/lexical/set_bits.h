// The bits of a set, eight a byte, the lowest first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lexical/window_loops.h"

namespace oneiros::lexical {

inline std::size_t count_bits(std::span<const std::uint8_t> bits) {
  return window_loops().count_bits(bits.data(), bits.size());
}

// Calls visit(bit) for each that is set, ascending. Quick where there are few.
template <typename Visit>
void for_each_bit(std::span<const std::uint8_t> bits, Visit visit) {
  constexpr std::size_t kWords = 8;
  std::uint64_t words[kWords];
  for (std::size_t at = 0; at < bits.size(); at += sizeof(words)) {
    const std::size_t size = std::min(sizeof(words), bits.size() - at);
    if (size < sizeof(words)) {
      std::ranges::fill(words, 0);
    }
    std::memcpy(words, bits.data() + at, size);
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) {
      any |= word;
    }
    if (any == 0) {
      continue;
    }
    for (std::size_t i = 0; i < kWords; ++i) {
      for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
        visit((at + i * sizeof(word)) * 8 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }
}

}  // namespace oneiros::lexical
