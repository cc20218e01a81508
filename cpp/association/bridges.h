// Memories that connect others which share no link. Source: docs/systems/cognitive.md C10.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/adjacency.h"
#include "association/link_decay.h"
#include "lexical/allowed_rows.h"

namespace oneiros {

// As many as can be asked to be bridged at once.
inline constexpr std::size_t kMostBridged = 16;
inline constexpr std::uint32_t kMostBridgeLinks = 3;

// A row and the best path it lies on.
struct Bridge {
  std::uint32_t row;
  std::uint32_t link_count;  // of the path: 2 or 3
  double value;              // the product of its links' weights, the first link's first
  std::array<std::uint32_t, kMostBridgeLinks + 1> path;  // link_count + 1 rows, end to end
};

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
// No path leads through a row, or from an end, that is not allowed. REQUIRES: all is valid.
std::vector<Bridge> find_bridges(const Adjacency& adjacency, std::span<const std::uint32_t> ends,
                                 const BridgeRule& rule, const lexical::AllowedRows& allowed,
                                 std::size_t top);

}  // namespace oneiros
