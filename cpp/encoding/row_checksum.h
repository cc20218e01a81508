// The checksum of a row of the store: the exclusive or of its cells' checksums, each salted by its
// column's name.
//
// A change of one cell can thus be applied with its old and new value only, and damage elsewhere in
// the row remains detectable. A NULL cell has the checksum 0, so adding a column does not change
// rows that do not use it. A cell counts by its value, not its storage class: 5 and 5.0 are equal,
// as are 0.0 and -0.0; NaN counts as NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oneiros {

// A hash of the column's name, which distinguishes its cells from equal ones of other columns.
[[nodiscard]] std::uint64_t column_salt(std::string_view name);

[[nodiscard]] std::uint64_t cell_checksum(std::uint64_t salt, std::int64_t value);
[[nodiscard]] std::uint64_t cell_checksum(std::uint64_t salt, double value);
// For text, as UTF-8.
[[nodiscard]] std::uint64_t text_checksum(std::uint64_t salt, std::span<const std::byte> text);
[[nodiscard]] std::uint64_t bytes_checksum(std::uint64_t salt, std::span<const std::byte> bytes);

}  // namespace oneiros
