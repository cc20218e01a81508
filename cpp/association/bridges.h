// Memories that connect others which share no link. Source: docs/systems/cognitive.md C10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/adjacency.h"
#include "association/link_decay.h"
#include "association/reached.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros {

// As many as can be asked to be bridged at once.
inline constexpr std::size_t kMostBridged = 16;

// What bridges are looked for.
struct BridgeRule {
  LinkClock clock;
  double least_link;  // a link with less left is none
};

// Throws std::invalid_argument naming the field that breaks its rule: rows that there are, each
// once, at most kMostBridged.
void require_valid_ends(std::span<const std::uint32_t> ends, std::size_t row_count);
void require_valid(const BridgeRule& rule);

// The best `top` rows, the ends left out, on paths of 2 or 3 links between two of `ends` that share
// no link, by value, then the smaller row. Paths begin at the end that is named first. Of a row's
// paths of one value, that with fewer links counts, then the smaller one, row by row.
// A path's value is the product of its links' weights, the first link's first. Each row comes with
// all rows of its path, end to end. No path leads through a row, or from an end, that is not
// allowed. REQUIRES: all is valid.
std::vector<Reached> find_bridges(const Adjacency& adjacency, std::span<const std::uint32_t> ends,
                                  const BridgeRule& rule, const lexical::AllowedRows& allowed,
                                  std::size_t top);

}  // namespace oneiros
