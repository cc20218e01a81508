// Checksums of cells: a mix of the column's salt, the kind of value and its bits; for text and
// bytes, the size and CRC-32C of the content stand for the bits. Integers that a double represents
// exactly are hashed as doubles, so that 5 and 5.0 agree.
#include "encoding/row_checksum.h"

#include <bit>
#include <cmath>

#include "encoding/crc32c.h"

namespace oneiros {

namespace {

constexpr std::uint64_t kReal = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kInteger = 0xd1b54a32d192ed03;
constexpr std::uint64_t kText = 0x8cb92ba72f3d8dd7;
constexpr std::uint64_t kBytes = 0xaef17502108ef2d9;

// The finaliser of SplitMix64: each input bit flips about half of the output bits.
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

constexpr std::uint64_t joined(std::uint64_t salt, std::uint64_t kind, std::uint64_t bits) {
  return mixed(mixed(bits + kind) ^ salt);
}

std::uint64_t contents(std::span<const std::byte> bytes) {
  return (static_cast<std::uint64_t>(bytes.size()) << 32) ^ crc32c(bytes);
}

}  // namespace

std::uint64_t column_salt(std::string_view name) {
  return mixed(contents(std::as_bytes(std::span(name))) + kReal);
}

std::uint64_t cell_checksum(std::uint64_t salt, std::int64_t value) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (value >= -kExact && value <= kExact) {
    return cell_checksum(salt, static_cast<double>(value));
  }
  return joined(salt, kInteger, std::bit_cast<std::uint64_t>(value));
}

std::uint64_t cell_checksum(std::uint64_t salt, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  return joined(salt, kReal, std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value));
}

std::uint64_t text_checksum(std::uint64_t salt, std::span<const std::byte> text) {
  return joined(salt, kText, contents(text));
}

std::uint64_t bytes_checksum(std::uint64_t salt, std::span<const std::byte> bytes) {
  return joined(salt, kBytes, contents(bytes));
}

}  // namespace oneiros
