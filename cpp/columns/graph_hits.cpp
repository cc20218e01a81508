// Rows of graph nodes: a node stands for its own row and, by binary search, its twins' rows. Rows
// are filtered, completed by those the graph does not cover, and scored exactly by
// VectorColumn::nearest.
#include "columns/graph_hits.h"

#include <algorithm>

namespace oneiros {

namespace {

// The rows of the nodes and their twins that are live and allowed; numbers out of range are
// skipped.
std::vector<std::uint32_t> rows_at(const VectorGraph& graph, std::span<const std::int64_t> nodes,
                                   std::optional<RowBits> allowed) {
  const auto node_count = static_cast<std::int64_t>(graph.node_count());
  std::vector<std::uint32_t> rows;
  rows.reserve(nodes.size());
  const auto take = [&](std::size_t position) {
    const std::uint32_t row = graph.rows[position];
    if ((!graph.live || has_bit(*graph.live, position)) && (!allowed || has_bit(*allowed, row))) {
      rows.push_back(row);
    }
  };
  for (const std::int64_t node : nodes) {
    if (node < 0 || node >= node_count) {
      continue;
    }
    take(static_cast<std::size_t>(node));
    const auto twins = std::ranges::equal_range(graph.heads, static_cast<std::uint32_t>(node));
    auto position =
        graph.node_count() + static_cast<std::size_t>(twins.begin() - graph.heads.begin());
    for (std::size_t i = 0; i < twins.size(); ++i) {
      take(position++);
    }
  }
  return rows;
}

}  // namespace

// Counts the rows first: with fewer than `wanted`, the caller searches deeper.
GraphHits graph_hits(const VectorColumn& column, std::span<const float> query, std::size_t k,
                     const VectorGraph& graph, std::span<const std::int64_t> nodes,
                     std::size_t wanted, std::optional<RowBits> allowed) {
  const std::vector<std::uint32_t> rows = rows_at(graph, nodes, allowed);
  if (rows.size() < wanted) {
    return {.hits = {}, .found = rows.size()};
  }
  const VectorRows fresh{.allowed = allowed, .minus = graph.under};
  return {.hits = column.nearest(query, k, fresh, rows), .found = rows.size()};
}

}  // namespace oneiros
