// The checksum of a row of the store's tables: of its cells, each under its column's name.
//
// The checksums of a row's cells are joined by exclusive or. So a change of one cell needs the old
// and the new value of that cell alone, and damage elsewhere in the row stays to be seen. A cell
// without a value has the checksum 0: a column that is added changes no row that does not use it.
// A cell counts by what it says and not by how SQLite keeps it: 5 and 5.0 are one number, and so
// are 0.0 and -0.0; NaN is no value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oneiros {

// What tells the cells of a column from equal ones of another.
[[nodiscard]] std::uint64_t column_salt(std::string_view name);

[[nodiscard]] std::uint64_t cell_checksum(std::uint64_t salt, std::int64_t value);
[[nodiscard]] std::uint64_t cell_checksum(std::uint64_t salt, double value);
// Of a text, as UTF-8.
[[nodiscard]] std::uint64_t text_checksum(std::uint64_t salt, std::span<const std::byte> text);
[[nodiscard]] std::uint64_t bytes_checksum(std::uint64_t salt, std::span<const std::byte> bytes);

}  // namespace oneiros
