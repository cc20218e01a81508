// Which rows a search may return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace oneiros::lexical {

// Bit r % 8 of byte r / 8 says whether row r may be returned; rows past the last byte may not.
// Without bits, all may. The bits must outlive it.
class AllowedRows {
 public:
  AllowedRows() = default;
  explicit AllowedRows(std::span<const std::uint8_t> bits) : bits_(bits) {}

  bool are_all() const { return !bits_; }

  // The rows, ascending; nothing if they are all, or more than `most`.
  std::optional<std::vector<std::uint32_t>> list(std::size_t most) const;

  bool contains(std::uint32_t row) const {
    if (!bits_) {
      return true;
    }
    const std::size_t byte = row / 8U;
    return byte < bits_->size() && (((*bits_)[byte] >> (row % 8U)) & 1U) != 0;
  }

 private:
  std::optional<std::span<const std::uint8_t>> bits_;
};

}  // namespace oneiros::lexical
