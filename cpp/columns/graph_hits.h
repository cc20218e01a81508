// Translation of approximate nearest-neighbour results from graph nodes to rows, scored exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "columns/vector_column.h"
#include "lexical/search/top_k.h"

namespace oneiros {

// The mapping from a vector index to rows. The index contains equal vectors once, as a node; the
// other rows with that vector are its twins. Positions are numbered nodes first, then twins ordered
// by head. Refers to memory of the caller; every number is checked before use.
struct VectorGraph {
  std::span<const std::uint32_t> rows;   // the row of each position
  std::span<const std::uint32_t> heads;  // the node of each twin, ascending
  std::optional<RowBits> live = {};      // bits of the positions in use; none: all
  RowBits under = {};                    // the rows at those positions, as bits

  [[nodiscard]] std::size_t node_count() const noexcept {
    return rows.size() < heads.size() ? 0 : rows.size() - heads.size();
  }
};

// Exact hits and the number of rows they were chosen from.
struct GraphHits {
  std::vector<lexical::Hit> hits;
  std::size_t found;  // rows of the given nodes that pass the filter
};

// Returns the k rows nearest to the query among the rows of the nodes and all rows outside the
// graph, restricted to `allowed` (none: all). Numbers that are not nodes are ignored. If the nodes
// have fewer than `wanted` rows, there are no hits: the graph search was too shallow. Scores are
// exact cosines. Throws as VectorColumn::nearest. Thread-safe.
[[nodiscard]] GraphHits graph_hits(const VectorColumn& column, std::span<const float> query,
                                   std::size_t k, const VectorGraph& graph,
                                   std::span<const std::int64_t> nodes, std::size_t wanted,
                                   std::optional<RowBits> allowed);

}  // namespace oneiros
