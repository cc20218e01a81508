// The memories that were recalled most often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "columns/columns.h"

namespace oneiros {

// The `count` rows with the most accesses, more of them first, then the smaller row; one that was
// never accessed is not among them. `allowed`: packed bits, bit r of byte r / 8 for row r, those
// beyond it 0; null: all rows are. One pass over the accesses. Source: docs/systems/omega.md
// O1. Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> most_accessed(
    const Columns& columns, std::size_t count, const std::span<const std::uint8_t>* allowed);

}  // namespace oneiros
