// Links as the store keeps them, by the sequence numbers of their ends, and how they enter the
// graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/graph.h"

namespace oneiros {

// One link per index. Fields as in LinkColumns, but that a link which was removed has the weight 0.
struct StoredLinks {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  std::vector<double> weight;
  std::vector<std::uint8_t> kind;
  std::vector<double> created_seconds;
  std::vector<double> last_seconds;  // NaN: never found together

  [[nodiscard]] std::size_t size() const noexcept { return first.size(); }
};

// The rows of the ends of links.
struct LinkEnds {
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> b;
};

// Sets links, or removes those that have no weight. `a` and `b` are the rows of the ends, one per
// link; a link with a negative one is left out: its memory was erased since. Returns the rows of
// the others. Throws as AssociationGraph::set does; then some of the links may be set. REQUIRES:
// columns of equal length; the graph has the rows.
LinkEnds put_links(AssociationGraph& graph, const StoredLinks& links,
                   std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace oneiros
