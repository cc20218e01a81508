// Bridges: memories on short paths between others that are not linked. Source:
// docs/systems/cognitive.md C10.
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

// The largest number of ends per query.
inline constexpr std::size_t kMostBridged = 16;

// How links are read for bridges.
struct BridgeRule {
  LinkClock clock;
  double least_link;  // links with less weight left are ignored
};

// Throws std::invalid_argument naming the field: ends must be existing rows, each once, at most
// kMostBridged.
void require_valid_ends(std::span<const std::uint32_t> ends, std::size_t row_count);
void require_valid(const BridgeRule& rule);

// The best `top` rows, other than ends, on paths of 2 or 3 links between two of `ends` that are not
// linked themselves, by value, then the smaller row. A path's value is the product of its link
// weights, multiplied in order from the end named first. Each result carries its whole path, end to
// end; among equal values the path with fewer links, then the lexicographically smaller one. Paths
// do not pass through, or start at, rows that are not allowed. REQUIRES: valid arguments.
std::vector<Reached> find_bridges(const Adjacency& adjacency, std::span<const std::uint32_t> ends,
                                  const BridgeRule& rule, const lexical::AllowedRows& allowed,
                                  std::size_t top);

}  // namespace oneiros
