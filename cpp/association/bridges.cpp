// Bridges between few ends (at most kMostBridged).
//
// Algorithm: the links of all ends are gathered and decayed in one vectorised pass, giving for each
// linked row its weights to the ends; rows linked to two unlinked ends are bridges of two links.
// Paths of three links are found by gathering the links between those rows. Results are kept by row
// with the best path, compared as specified in bridges.h.
//
// Cost: linear in the links of the ends and of their neighbours that can still improve a result.
// Source: docs/systems/cognitive.md C10.
#include "association/bridges.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "association/link_columns.h"
#include "association/link_order.h"
#include "ranking/id_table.h"
#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

// Links gathered for one decay pass, as parallel vectors.
struct Gathered {
  std::vector<double> weights;
  std::vector<double> last_seconds;
  std::vector<std::uint32_t> froms;  // the index of an end, or the number of a row
  std::vector<std::uint32_t> targets;

  void clear() {
    weights.clear();
    last_seconds.clear();
    froms.clear();
    targets.clear();
  }
  void add(const HalfLink& link, std::uint32_t from, std::uint32_t target) {
    weights.push_back(link.weight);
    last_seconds.push_back(link.last_seconds);
    froms.push_back(from);
    targets.push_back(target);
  }
};

struct BridgeMemory {
  Gathered links;
  IdTable<std::uint32_t> numbers;   // rows linked to any end
  std::vector<std::uint32_t> rows;  // by number
  std::vector<double> to_ends;      // by number and end: the link's weight, 0 for none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unlinked;  // index pairs of ends
  std::vector<Reached> bridges;  // by number; value 0: not a bridge
  std::vector<double> values;
  std::vector<std::uint32_t> order;
};

class Search {
 public:
  Search(const Adjacency& adjacency, std::span<const std::uint32_t> ends, const BridgeRule& rule,
         const lexical::AllowedRows& allowed, BridgeMemory& memory)
      : adjacency_(adjacency),
        ends_(ends),
        rule_(rule),
        allowed_(allowed),
        memory_(memory),
        least_standing_(least_standing(rule.least_link, rule.clock)) {}

  std::vector<Reached> run(std::size_t top) {
    look_from_ends();
    find_unlinked();
    if (memory_.unlinked.empty()) {
      return {};
    }
    memory_.bridges.assign(memory_.rows.size(), {});
    for (std::uint32_t number = 0; number < memory_.rows.size(); ++number) {
      offer_two_links(number);
    }
    look_between();
    for (std::size_t i = 0; i < memory_.links.weights.size(); ++i) {
      if (memory_.links.weights[i] >= rule_.least_link) {
        offer_three_links(memory_.links.froms[i], memory_.links.targets[i],
                          memory_.links.weights[i]);
      }
    }
    return best(top);
  }

 private:
  // Calls visit(link) for each of the row's links that may have enough weight left.
  template <typename Visit>
  void for_each_link(std::uint32_t row, Visit visit) const {
    for_each_standing(adjacency_[row], rule_.least_link, least_standing_, visit);
  }

  [[nodiscard]] double to_end(std::uint32_t number, std::size_t end) const {
    return memory_.to_ends[number * ends_.size() + end];
  }

  // Gathers the links of all ends and decays them together.
  void look_from_ends() {
    Gathered& links = memory_.links;
    links.clear();
    for (std::uint32_t end = 0; end < ends_.size(); ++end) {
      if (allowed_.contains(ends_[end])) {
        for_each_link(ends_[end], [&](const HalfLink& link) {
          if (allowed_.contains(link.neighbour())) {
            links.add(link, end, link.neighbour());
          }
        });
      }
    }
    decay_weights(links.weights, links.last_seconds, rule_.clock);
    memory_.numbers.begin(links.targets.size());
    memory_.rows.resize(links.targets.size());
    memory_.to_ends.assign(links.targets.size() * ends_.size(), 0.0);
    for (std::size_t i = 0; i < links.targets.size(); ++i) {
      if (links.weights[i] >= rule_.least_link) {
        const std::uint32_t number =
            memory_.numbers.number_of(links.targets[i], memory_.rows.data());
        memory_.to_ends[number * ends_.size() + links.froms[i]] = links.weights[i];
      }
    }
    memory_.rows.resize(memory_.numbers.size());
  }

  // Finds the pairs of ends that share no link; only they can be bridged.
  void find_unlinked() {
    memory_.unlinked.clear();
    for (std::uint32_t first = 0; first < ends_.size(); ++first) {
      for (std::uint32_t last = first + 1; last < ends_.size(); ++last) {
        const std::uint32_t number = memory_.numbers.find(ends_[last], memory_.rows.data());
        if (number == memory_.numbers.size() || to_end(number, first) == 0.0) {
          memory_.unlinked.emplace_back(first, last);
        }
      }
    }
  }

  // Offers paths end - row - end for all unlinked pairs of ends.
  void offer_two_links(std::uint32_t number) {
    for (const auto& [first, last] : memory_.unlinked) {
      const double value = to_end(number, first) * to_end(number, last);
      if (value > 0.0) {
        offer(
            number,
            {memory_.rows[number], 3, value, {ends_[first], memory_.rows[number], ends_[last], 0}});
      }
    }
  }

  // Gathers the links between rows that are linked to ends.
  void look_between() {
    Gathered& links = memory_.links;
    links.clear();
    for (const std::uint32_t row : memory_.rows) {
      adjacency_.prefetch(row);
    }
    for (const std::uint32_t row : memory_.rows) {
      __builtin_prefetch(adjacency_[row].data());
    }
    for (std::uint32_t number = 0; number < memory_.rows.size(); ++number) {
      if (!is_near_first(number)) {
        continue;
      }
      for_each_link(memory_.rows[number], [&](const HalfLink& link) {
        const std::uint32_t target = memory_.numbers.find(link.neighbour(), memory_.rows.data());
        if (target != memory_.numbers.size()) {
          links.add(link, number, target);
        }
      });
    }
    decay_weights(links.weights, links.last_seconds, rule_.clock);
  }

  // True if a path may start at the end.
  [[nodiscard]] bool is_near_first(std::uint32_t number) const {
    return std::ranges::any_of(memory_.unlinked,
                               [&](const auto& pair) { return to_end(number, pair.first) > 0.0; });
  }

  // Offers paths end - row - row - end over one link between rows.
  void offer_three_links(std::uint32_t from, std::uint32_t target, double weight) {
    for (const auto& [first, last] : memory_.unlinked) {
      const double value = to_end(from, first) * weight * to_end(target, last);
      if (value > 0.0) {
        Reached bridge{memory_.rows[from],
                       4,
                       value,
                       {ends_[first], memory_.rows[from], memory_.rows[target], ends_[last]}};
        offer(from, bridge);
        bridge.row = memory_.rows[target];
        offer(target, bridge);
      }
    }
  }

  // Keeps the better of two paths through a row, by the order in bridges.h.
  void offer(std::uint32_t number, const Reached& bridge) {
    Reached& best = memory_.bridges[number];
    if (bridge.value != best.value) {
      best = bridge.value > best.value ? bridge : best;
    } else if (std::pair(bridge.path_size, bridge.path) < std::pair(best.path_size, best.path)) {
      best = bridge;
    }
  }

  std::vector<Reached> best(std::size_t top) {
    std::erase_if(memory_.bridges, [this](const Reached& bridge) {
      return bridge.value == 0.0 || std::ranges::find(ends_, bridge.row) != ends_.end();
    });
    memory_.values.clear();
    for (const Reached& bridge : memory_.bridges) {
      memory_.values.push_back(bridge.value);
    }
    const std::vector<Reached>& all = memory_.bridges;
    best_first(memory_.values, top, memory_.order,
               [&all](std::uint32_t a, std::uint32_t b) { return all[a].row < all[b].row; });
    std::vector<Reached> found;
    found.reserve(memory_.order.size());
    for (const std::uint32_t place : memory_.order) {
      found.push_back(all[place]);
    }
    return found;
  }

  const Adjacency& adjacency_;
  const std::span<const std::uint32_t> ends_;
  const BridgeRule& rule_;
  const lexical::AllowedRows& allowed_;
  BridgeMemory& memory_;
  const float least_standing_;
};

}  // namespace

void require_valid_ends(std::span<const std::uint32_t> ends, std::size_t row_count) {
  require_rows(ends, row_count, "ends");
  if (ends.size() > kMostBridged) {
    throw std::invalid_argument("ends: at most " + std::to_string(kMostBridged) + " rows, got " +
                                std::to_string(ends.size()));
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (std::ranges::find(ends.first(i), ends[i]) != ends.first(i).end()) {
      throw std::invalid_argument("ends: must be different rows, got " + std::to_string(ends[i]) +
                                  " twice");
    }
  }
}

void require_valid(const BridgeRule& rule) {
  require_valid(rule.clock);
  constexpr Rule kLeast{0.0, 1.0, true, false, "must be in (0, 1]"};
  require(kLeast, "least_link", rule.least_link);
}

std::vector<Reached> find_bridges(const Adjacency& adjacency, std::span<const std::uint32_t> ends,
                                  const BridgeRule& rule, const lexical::AllowedRows& allowed,
                                  std::size_t top) {
  thread_local BridgeMemory memory;
  return Search(adjacency, ends, rule, allowed, memory).run(top);
}

}  // namespace oneiros
