// Iteration over the texts of rows.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "columns/text_column.h"

namespace oneiros {

// Calls visit(i, text) for each row in order. Texts are prefetched several rows ahead, since their
// addresses are unrelated. REQUIRES: the views passed to visit() are not kept beyond the Reader.
void for_each_text(const TextColumn::Reader& reader, std::span<const std::uint32_t> rows,
                   const std::invocable<std::size_t, const MemoryText&> auto& visit) {
  constexpr std::size_t kAhead = 16;
  reader.prefetch(rows.first(std::min(kAhead, rows.size())));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      reader.prefetch(rows.subspan(i + kAhead, 1));
    }
    visit(i, reader.at(rows[i]));
  }
}

}  // namespace oneiros
