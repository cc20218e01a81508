// Packed bits of the rows in a serialized Roaring bitmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneiros {

// Sets bit r % 8 of byte r / 8 for each row r of the bitmap below `row_count`; other bits stay.
// Throws DamagedBytes if the bitmap is not whole. REQUIRES: there is a byte for every 8 rows.
void set_bits_of_roaring(std::span<const std::byte> bitmap, std::size_t row_count,
                         std::span<std::uint8_t> bits);

}  // namespace oneiros
