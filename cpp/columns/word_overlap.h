// How much of their words the texts of rows share.
#pragma once

#include <cstdint>
#include <span>

#include "columns/text_column.h"

namespace oneiros {

// Rows, each with the number of its group.
struct GroupedRows {
  std::span<const std::uint32_t> rows;
  std::span<const std::int64_t> groups;
};

// overlap[i]: the largest Jaccard of the set of words of asked.rows[i] with that of another row of
// its group in `among`; 0 where none shares a word. A word is a run of letters, digits and
// underscores of three characters or more. One pass over `among`; each of its texts that shares a
// word costs some time for each of the asked. Source: docs/systems/reverie.md R10.
// REQUIRES: one group a row in both; overlap.size() == asked.rows.size() < 2^32.
void largest_word_overlaps(const TextColumn& texts, const GroupedRows& asked,
                           const GroupedRows& among, std::span<double> overlap);

}  // namespace oneiros
