// The most accessed memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "columns/columns.h"

namespace oneiros {

// The `count` rows with the most accesses, more accesses first, then the smaller row; rows never
// accessed are left out. `allowed`: bit r % 8 of byte r / 8 for row r, rows beyond it excluded;
// null: all rows. One vectorised pass over the access counts. Thread-safe. Source:
// docs/systems/omega.md O1.
[[nodiscard]] std::vector<std::uint32_t> most_accessed(
    const Columns& columns, std::size_t count, const std::span<const std::uint8_t>* allowed);

}  // namespace oneiros
