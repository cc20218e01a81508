// A cell of a table of the store, without a copy of its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "encoding/row_checksum.h"

namespace oneiros {

// NULL, an integer, a real, UTF-8 text, or bytes. Views are valid as long as their source.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view,
                          std::span<const std::byte>>;

// The checksum of a cell under its column's salt (encoding/row_checksum.h).
[[nodiscard]] inline std::uint64_t cell_checksum(std::uint64_t salt, const Cell& cell) {
  struct Visitor {
    std::uint64_t salt;
    std::uint64_t operator()(std::monostate /*none*/) const { return 0; }
    std::uint64_t operator()(std::int64_t value) const { return cell_checksum(salt, value); }
    std::uint64_t operator()(double value) const { return cell_checksum(salt, value); }
    std::uint64_t operator()(std::string_view text) const {
      return text_checksum(salt, std::as_bytes(std::span(text)));
    }
    std::uint64_t operator()(std::span<const std::byte> bytes) const {
      return bytes_checksum(salt, bytes);
    }
  };
  return std::visit(Visitor{salt}, cell);
}

}  // namespace oneiros
