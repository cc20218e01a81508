// The bits of a set, eight a byte, the lowest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/search/window_loops.h"

namespace oneiros::lexical {

inline std::size_t count_bits(std::span<const std::uint8_t> bits) {
  return window_loops().count_bits(bits.data(), bits.size());
}

// Those that are set, ascending; about `count`. Quick where they are few. Where they are is hard to
// foretell, so hardly anything depends on a branch: a word's first two bits are written down
// whether there is a second or not, and it counts only if there is.
std::vector<std::uint32_t> list_bits(std::span<const std::uint8_t> bits, std::size_t count);

// The same in any order, in less time.
std::vector<std::uint32_t> list_bits_unordered(std::span<const std::uint8_t> bits,
                                               std::size_t count);

}  // namespace oneiros::lexical
