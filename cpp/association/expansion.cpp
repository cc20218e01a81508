// Best-first expansion over the association graph, label by label.
//
// Algorithm: labels (row, path value, hops) start at the seeds and are extended hop by hop, the
// best first within a hop. Links are gathered for many labels at once, prefetched, decayed by the
// vectorised kernel of batch scoring, and then followed. Per row only labels that are better by
// value or by hops are kept.
//
// Pruning: values never grow along a path. A histogram of the rows reached bounds the `top`-th best
// value from below (value_counts.h); labels and links that cannot reach it are dropped. The order
// of links (link_order.h) ends a row's scan at the first link that is too weak.
//
// Invariants: pruning never changes the result; ties are broken by hops, then by the smaller row.
// Cost: linear in the links examined, dominated by cache misses; no allocation after the first
// walks of a thread. Source: docs/systems/cognitive.md C9, C10; docs/systems/omega.md O24.
#include "association/expansion.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "association/link_columns.h"
#include "association/link_order.h"
#include "association/walk_memory.h"
#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

constexpr Rule kPart{0.0, 1.0, true, false, "must be in (0, 1]"};

// Few labels are expanded at first: what they reach raises the bound for the others.
constexpr std::size_t kFirstLabels = 16;
constexpr std::size_t kAhead = 6;  // links prefetched per label
constexpr std::size_t kFewestRows = 256;

class Walk {
 public:
  Walk(const Adjacency& adjacency, const ExpansionRule& rule, const lexical::AllowedRows& allowed,
       std::size_t top, WalkMemory& memory)
      : adjacency_(adjacency),
        rule_(rule),
        allowed_(allowed),
        top_(top),
        memory_(memory),
        least_(rule.least) {}

  std::vector<Reached> run(const Seeds& seeds) {
    begin(seeds);
    std::size_t first = 0;
    for (std::uint32_t hops = 1; hops <= rule_.most_hops; ++hops) {
      const std::size_t end = memory_.labels.size();
      go_on_from(first, end, hops);
      first = end;
    }
    return best();
  }

 private:
  // Numbers the seeds; a repeated seed keeps its larger value.
  void begin(const Seeds& seeds) {
    memory_.labels.clear();
    memory_.best.clear();
    room_ = 2 * seeds.rows.size() + kFewestRows;
    memory_.rows.resize(room_);
    memory_.numbers.begin(room_);
    for (std::size_t i = 0; i < seeds.rows.size(); ++i) {
      const double value = seeds.values.empty() ? 1.0 : seeds.values[i];
      const std::uint32_t number = memory_.numbers.number_of(seeds.rows[i], memory_.rows.data());
      if (number < memory_.best.size()) {
        PathLabel& label = memory_.labels[number];
        label.value = std::max(label.value, value);
      } else {
        memory_.best.push_back(number);
        memory_.labels.push_back({number, number, 0, value});
      }
    }
    seed_count_ = memory_.best.size();
    double most = 0.0;
    for (const PathLabel& label : memory_.labels) {
      most = std::max(most, label.value);
    }
    memory_.counts.begin(most);
  }

  [[nodiscard]] std::uint32_t row_of(const PathLabel& label) const {
    return memory_.rows[label.row];
  }

  // Follows one link from each of labels [first, end).
  void go_on_from(std::size_t first, std::size_t end, std::uint32_t hops) {
    std::vector<std::uint32_t>& frontier = memory_.frontier;
    const std::vector<PathLabel>& labels = memory_.labels;
    frontier.clear();
    for (std::size_t i = first; i < end; ++i) {
      if (labels[i].value >= least_ && (hops > 1 || allowed_.contains(row_of(labels[i])))) {
        adjacency_.prefetch(row_of(labels[i]));
        frontier.push_back(static_cast<std::uint32_t>(i));
      }
    }
    std::ranges::sort(frontier, [&labels](std::uint32_t a, std::uint32_t b) {
      return labels[a].value > labels[b].value;
    });
    prefetch_links(frontier);
    std::size_t count = std::min(kFirstLabels, frontier.size());
    for (std::size_t at = 0; at < frontier.size() && labels[frontier[at]].value >= least_;) {
      look_from(std::span(frontier).subspan(at, count));
      at += count;
      count = std::min(2 * count, frontier.size() - at);
      step(hops);
      raise_least();
    }
  }

  // Prefetches the links that look_from() reads, several rows at once: a walk mostly waits for
  // memory.
  void prefetch_links(std::span<const std::uint32_t> frontier) const {
    for (const std::uint32_t number : frontier) {
      const std::span<const HalfLink> links = adjacency_[row_of(memory_.labels[number])];
      for (std::size_t i = 0; i < std::min(links.size(), kAhead); i += 2) {
        __builtin_prefetch(links.data() + i);
      }
    }
  }

  // Gathers the links that may extend the labels.
  void look_from(std::span<const std::uint32_t> frontier) {
    memory_.steps.size = 0;
    for (const std::uint32_t number : frontier) {
      look_from(number, memory_.labels[number].value);
    }
  }

  void look_from(std::uint32_t number, double its_value) {
    const std::span<const HalfLink> links = adjacency_[row_of(memory_.labels[number])];
    WalkSteps& steps = memory_.steps;
    steps.make_room(links.size());
    const double quotient = least_ / (its_value * rule_.hop_decay);
    // Slightly less than the quotient, which was rounded. (NaN, from 0 / 0, does not compare
    // greater.)
    const double least_weight = std::max(rule_.least_link, quotient * (1.0 - 1e-12));
    const lexical::AllowedRows allowed = allowed_;
    std::size_t size = steps.size;
    for_each_standing(links, least_weight, least_standing(least_weight, rule_.clock),
                      [&](const HalfLink& link) ONEIROS_ALWAYS_INLINE_LAMBDA {
                        if (allowed.contains(link.neighbour())) {
                          steps.weights[size] = link.weight;
                          steps.last_seconds[size] = link.last_seconds;
                          steps.targets[size] = link.neighbour();
                          steps.parents[size] = number;
                          ++size;
                        }
                      });
    steps.size = size;
  }

  // Follows the gathered links whose paths are good enough.
  void step(std::uint32_t hops) {
    WalkSteps& steps = memory_.steps;
    decay_weights(std::span(steps.weights).first(steps.size),
                  std::span(steps.last_seconds).first(steps.size), rule_.clock);
    keep_worthy();
    make_room(steps.size);
    for (std::size_t i = 0; i < steps.size; ++i) {
      const std::uint32_t number = memory_.numbers.number_of(steps.targets[i], memory_.rows.data());
      reach({number, steps.parents[i], hops, steps.weights[i]});
    }
  }

  // Makes room for that many more rows.
  void make_room(std::size_t more) {
    const std::size_t known = memory_.best.size();
    if (known + more <= room_) {
      return;
    }
    room_ = 2 * (known + more);
    memory_.rows.resize(room_);
    memory_.numbers.begin(room_);
    for (std::size_t number = 0; number < known; ++number) {
      memory_.numbers.number_of(memory_.rows[number], memory_.rows.data());
    }
  }

  // Decays the gathered weights and keeps the links whose paths have a sufficient value.
  void keep_worthy() {
    WalkSteps& steps = memory_.steps;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps.size; ++i) {
      const double weight = steps.weights[i];
      const double value = memory_.labels[steps.parents[i]].value * rule_.hop_decay * weight;
      steps.weights[kept] = value;
      steps.targets[kept] = steps.targets[i];
      steps.parents[kept] = steps.parents[i];
      kept += weight >= rule_.least_link && value >= least_ ? 1 : 0;
    }
    steps.size = kept;
  }

  // Records a better label for a row and updates the bound of the n-th best value.
  void reach(const PathLabel& label) {
    std::vector<PathLabel>& labels = memory_.labels;
    const bool is_seed = label.row < seed_count_;
    if (label.row < memory_.best.size()) {
      PathLabel& former = labels[memory_.best[label.row]];
      if (!is_seed && label.value > former.value) {
        memory_.counts.remove(former.value);
        memory_.counts.add(label.value);
      }
      if (former.hops == label.hops) {
        // The label has not been extended yet.
        if (label.value > former.value ||
            (label.value == former.value &&
             row_of(labels[label.parent]) < row_of(labels[former.parent]))) {
          former = label;
        }
        return;
      }
      if (former.value >= label.value) {
        return;
      }
      memory_.best[label.row] = static_cast<std::uint32_t>(labels.size());
    } else {
      memory_.best.push_back(static_cast<std::uint32_t>(labels.size()));
      memory_.counts.add(label.value);
    }
    labels.push_back(label);
    if (label.hops < rule_.most_hops) {
      adjacency_.prefetch(row_of(label));  // for the next hop
    }
  }

  // Values do not grow along a path: once `top` rows are reached, a path below the last of them
  // cannot lead to a result.
  void raise_least() {
    if (memory_.best.size() - seed_count_ >= top_) {
      least_ = std::max(least_, memory_.counts.bound_of_nth(top_));
    }
  }

  // Among the rows that can be results.
  void gather_values() {
    memory_.values.clear();
    memory_.numbers_by_value.clear();
    for (std::size_t number = seed_count_; number < memory_.best.size(); ++number) {
      const double value = memory_.labels[memory_.best[number]].value;
      if (value >= least_) {
        memory_.values.push_back(value);
        memory_.numbers_by_value.push_back(static_cast<std::uint32_t>(number));
      }
    }
  }

  // Selects the best rows by value, then row, without the seeds.
  std::vector<Reached> best() {
    gather_values();
    const std::uint32_t* const numbers = memory_.numbers_by_value.data();
    const std::uint32_t* const rows = memory_.rows.data();
    best_first(memory_.values, top_, memory_.order, [=](std::uint32_t a, std::uint32_t b) {
      return rows[numbers[a]] < rows[numbers[b]];
    });
    std::vector<Reached> reached;
    reached.reserve(memory_.order.size());
    for (const std::uint32_t place : memory_.order) {
      const PathLabel& label = memory_.labels[memory_.best[numbers[place]]];
      reached.push_back({row_of(label), label.hops, label.value, {}});
      std::uint32_t before = label.parent;
      for (std::uint32_t hops = label.hops; hops-- > 0;) {
        reached.back().path[hops] = row_of(memory_.labels[before]);
        before = memory_.labels[before].parent;
      }
    }
    return reached;
  }

  const Adjacency& adjacency_;
  const ExpansionRule& rule_;
  const lexical::AllowedRows& allowed_;
  const std::size_t top_;
  WalkMemory& memory_;
  double least_;
  std::size_t seed_count_ = 0;
  std::size_t room_ = 0;  // in rows
};

}  // namespace

void require_valid(const Seeds& seeds, std::size_t row_count) {
  require_rows(seeds.rows, row_count, "seeds");
  if (seeds.values.empty()) {
    return;
  }
  if (seeds.values.size() != seeds.rows.size()) {
    throw std::invalid_argument("seed_values: expected " + std::to_string(seeds.rows.size()) +
                                " values, one a seed, got " + std::to_string(seeds.values.size()));
  }
  for (const double value : seeds.values) {
    require(kNotNegative, "seed_values", value);
  }
}

void require_valid(const ExpansionRule& rule) {
  require_valid(rule.clock);
  require(kShare, "least_link", rule.least_link);
  require(kNotNegative, "least", rule.least);
  require(kPart, "hop_decay", rule.hop_decay);
  require(rule.most_hops >= 1 && rule.most_hops <= kMostHops, "most_hops", "must be 1, 2 or 3",
          rule.most_hops);
}

std::vector<Reached> expand(const Adjacency& adjacency, const Seeds& seeds,
                            const ExpansionRule& rule, const lexical::AllowedRows& allowed,
                            std::size_t top) {
  if (top == 0) {
    return {};
  }
  thread_local WalkMemory memory;
  return Walk(adjacency, rule, allowed, top, memory).run(seeds);
}

}  // namespace oneiros
