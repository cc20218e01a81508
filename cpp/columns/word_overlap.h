// Word overlap between the texts of rows.
#pragma once

#include <cstdint>
#include <span>

#include "columns/text_column.h"

namespace oneiros {

// Rows with the number of each row's group, as parallel arrays.
struct GroupedRows {
  std::span<const std::uint32_t> rows;
  std::span<const std::int64_t> groups;
};

// overlap[i]: the largest Jaccard similarity of the set of words of asked.rows[i] and that of
// another row of its group in `among`; 0 if none shares a word. A word is a run of letters, digits
// and underscores of at least three characters. One pass over `among`; texts that share words cost
// time for each asked row they share one with. Source: docs/systems/reverie.md R10. REQUIRES: one
// group per row in both; overlap.size() == asked.rows.size() < 2^32.
void largest_word_overlaps(const TextColumn& texts, const GroupedRows& asked,
                           const GroupedRows& among, std::span<double> overlap);

}  // namespace oneiros
