// The reading methods of the graph. All of them run within one visit of the left-right table.
#include <algorithm>
#include <array>

#include "association/graph.h"

namespace oneiros {

std::vector<Neighbour> AssociationGraph::neighbours(std::uint32_t row,
                                                    const LinkClock& clock) const {
  require_rows(std::array{row}, row_count(), "row");
  require_valid(clock);
  std::vector<Neighbour> found = adjacency_.read([&](const Adjacency& adjacency) {
    std::vector<Neighbour> held;
    held.reserve(adjacency[row].size());
    for (const HalfLink& link : adjacency[row]) {
      held.push_back({link, decayed_weight(link, clock)});
    }
    return held;
  });
  std::ranges::sort(found, [](const Neighbour& a, const Neighbour& b) {
    return a.weight_left != b.weight_left ? a.weight_left > b.weight_left
                                          : a.link.neighbour() < b.link.neighbour();
  });
  return found;
}

std::vector<std::optional<HalfLink>> AssociationGraph::find(const PairColumns& pairs) const {
  require_valid(pairs, row_count());
  return adjacency_.read([&](const Adjacency& adjacency) {
    std::vector<std::optional<HalfLink>> found(pairs.a.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::span<const HalfLink> links = adjacency[pairs.a[i]];
      const std::uint32_t place = place_of(links, pairs.b[i]);
      if (place != kNoPlace) {
        found[i] = links[place];
      }
    }
    return found;
  });
}

std::vector<Reached> AssociationGraph::expand(const Seeds& seeds, const ExpansionRule& rule,
                                              const lexical::AllowedRows& allowed,
                                              std::size_t top) const {
  require_valid(seeds, row_count());
  require_valid(rule);
  return adjacency_.read([&](const Adjacency& adjacency) {
    return oneiros::expand(adjacency, seeds, rule, allowed, top);
  });
}

std::vector<Reached> AssociationGraph::bridges(std::span<const std::uint32_t> ends,
                                               const BridgeRule& rule,
                                               const lexical::AllowedRows& allowed,
                                               std::size_t top) const {
  require_valid_ends(ends, row_count());
  require_valid(rule);
  return adjacency_.read([&](const Adjacency& adjacency) {
    return find_bridges(adjacency, ends, rule, allowed, top);
  });
}

}  // namespace oneiros
