// Bit sets of eight bits per byte, lowest first.
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

// The set bits, ascending; `count` is an estimate for the allocation. Fast for sparse sets.
// Branch-free where the pattern is unpredictable: two bits of each word are written
// unconditionally, and the second counts only if it exists.
std::vector<std::uint32_t> list_bits(std::span<const std::uint8_t> bits, std::size_t count);

// The same in arbitrary order, faster.
std::vector<std::uint32_t> list_bits_unordered(std::span<const std::uint8_t> bits,
                                               std::size_t count);

}  // namespace oneiros::lexical
