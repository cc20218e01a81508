// CRC-32C (Castagnoli), the checksum of everything Oneiros writes outside SQLite's own pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneiros {

// The checksum of `bytes`; that of "123456789" is 0xe3069283. `before` is the checksum of preceding
// bytes, to continue with. Uses the processor's instruction where available. Thread-safe.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The checksum of a concatenation, from the checksums of both parts and the size (below 2^48) of
// the second.
[[nodiscard]] std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second,
                                          std::size_t second_size);

// The same by tables only, for processors without the instruction and as a reference for tests.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes,
                                             std::uint32_t before = 0);

}  // namespace oneiros
