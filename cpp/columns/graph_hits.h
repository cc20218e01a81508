// From the nodes that a walk through a graph over vectors ended at to the rows they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "columns/vector_column.h"
#include "lexical/search/top_k.h"

namespace oneiros {

// A graph holds each vector once: as a node, the head of those that are equal to it, its twins. Its
// positions are the nodes, then the twins by head. Borrowed; none of it is trusted.
struct VectorGraph {
  std::span<const std::uint32_t> rows;   // of each position
  std::span<const std::uint32_t> heads;  // the node of each twin, ascending
  std::optional<RowBits> live = {};      // packed bits of the positions in use; none given: all are
  RowBits under = {};                    // the rows at those positions

  [[nodiscard]] std::size_t node_count() const noexcept {
    return rows.size() < heads.size() ? 0 : rows.size() - heads.size();
  }
};

struct GraphHits {
  std::vector<lexical::Hit> hits;
  std::size_t found;  // rows of the nodes that may be returned
};

// The k rows nearest to the query, of those that the nodes stand for and of all that do not lie
// under the graph; in both, of those in `allowed` (none given: all). A number that is no node is
// passed over. Where the nodes stand for fewer than `wanted` rows, there are no hits: the walk was
// too short. Throws as VectorColumn::nearest. Thread-safe.
[[nodiscard]] GraphHits graph_hits(const VectorColumn& column, std::span<const float> query,
                                   std::size_t k, const VectorGraph& graph,
                                   std::span<const std::int64_t> nodes, std::size_t wanted,
                                   std::optional<RowBits> allowed);

}  // namespace oneiros
