// CRC-32C (Castagnoli), the checksum of everything that Oneiros writes outside SQLite's own pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneiros {

// The checksum of `bytes`; of "123456789" it is 0xe3069283. With `before`, the checksum of some
// bytes, it is that of those bytes and `bytes` joined. Uses the processor's instruction where there
// is one. Thread-safe: touches nothing but its arguments.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// Of bytes whose checksum is `first`, followed by `second_size` (below 2^48) others whose is
// `second`.
[[nodiscard]] std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second,
                                          std::size_t second_size);

// The same by tables alone: what any processor runs, and what the other form is held to.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes,
                                             std::uint32_t before = 0);

}  // namespace oneiros
