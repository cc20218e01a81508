// The only way to read bytes that may be damaged or hostile: every access is bounds-checked first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace oneiros {

// Bytes that violate their format. The message says where and why.
class DamagedBytes : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Conversion between a number and its little-endian bytes, on any machine.
template <typename Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] Number from_little_endian(std::array<std::byte, sizeof(Number)> bytes) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<Number>(bytes);
}

template <typename Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] std::array<std::byte, sizeof(Number)> to_little_endian(Number number) noexcept {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(number);
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return bytes;
}

// Reads from the front of a byte range, which must outlive it. Not thread-safe.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  // The next `count` bytes; all reading goes through here. Throws DamagedBytes if fewer are left;
  // `what` names them in the message.
  [[nodiscard]] std::span<const std::byte> take(std::size_t count, const char* what) {
    if (count > rest_.size()) {
      throw DamagedBytes(std::string(what) + ": needs " + std::to_string(count) + " bytes, " +
                         std::to_string(rest_.size()) + " are left");
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <typename Number>
  [[nodiscard]] Number take_number(const char* what) {
    std::array<std::byte, sizeof(Number)> bytes;
    std::ranges::copy(take(sizeof(Number), what), bytes.begin());
    return from_little_endian<Number>(bytes);
  }

  // Fills `numbers` from the next bytes. Throws DamagedBytes if fewer are left.
  template <typename Number>
  void take_numbers(std::span<Number> numbers, const char* what) {
    const auto taken = take(numbers.size_bytes(), what);
    if constexpr (std::endian::native == std::endian::little) {
      std::ranges::copy(taken, std::as_writable_bytes(numbers).begin());
    } else {
      ByteReader single(taken);
      for (Number& number : numbers) {
        number = single.take_number<Number>(what);
      }
    }
  }

  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace oneiros
