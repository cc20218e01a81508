// A profile as a search runs it: channels, scoring and stages as plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ranking/plan.h"
#include "ranking/session_neighbours.h"

namespace oneiros::search {

enum class ChannelKind : std::uint8_t { lexical, vector, temporal };

// The lexical score as OMEGA reads it: BM25 brought to [floor, 1] and mixed with the share of the
// query's words that the text holds. Source: docs/systems/omega.md O3.
struct WordRelevance {
  double share;
  double floor;
};

struct ChannelPlan {
  ChannelKind kind = ChannelKind::lexical;
  std::size_t depth = 100;
  std::size_t per_result = 0;               // above 0: so many a result, in place of `depth`
  std::optional<double> minimum = {};       // vector: no hit has a smaller cosine
  std::optional<WordRelevance> words = {};  // lexical

  [[nodiscard]] std::size_t depth_for(std::size_t k) const {
    constexpr std::size_t kDeepest = 100'000;
    if (per_result == 0) {
      return depth;
    }
    return std::clamp<std::size_t>(k > kDeepest ? kDeepest : per_result * k, 1, kDeepest);
  }
};

// One program over candidates, and whether it reads every channel's score of every candidate.
struct Scoring {
  std::shared_ptr<const Plan> plan;
  bool fills_scores = false;
};

// Which signals of the query the programs of a profile read.
struct SignalNeeds {
  bool has_functions = false;  // factors that only the caller can compute
  bool temporal = false;       // O22
  bool named_time = false;     // H10
  bool overlap = false;        // O18
  bool lexical_share = false;  // M8's gate
  bool cluster = false;        // O21
};

// Source: docs/systems/omega.md O1.
struct HotSet {
  std::size_t size;
  double least_overlap;
  double weight;
};

struct FastPath {
  double similarity;
  std::size_t characters;
};

// Source: docs/systems/omega.md O5.
struct StrongSignal {
  double threshold;
  double gap;
};

// Follow the links of all direct results; score what they lead to as candidates of their own.
// Source: docs/systems/cognitive.md C9, C10, C14.
struct AssociativeExpansion {
  double least_link;
  double least_path;
  unsigned hops;
  double least_score;
  std::size_t bridged;
  std::size_t depth;
  double quota;
  Scoring scoring;  // reads the signal "path_weight"
};

// Follow the links of the best results; what they lead to has a part of their score.
// Source: docs/systems/omega.md O24.
struct GraphExpansion {
  std::size_t seeds;
  unsigned hops;
  double per_hop;
  double least_link;
  double least_score;
  double weight;
  Scoring lifecycle;  // the retention alone
};

using Expansion = std::variant<std::monostate, AssociativeExpansion, GraphExpansion>;

struct Rerank {
  std::size_t top;
  bool after_links;
};

// Source: docs/systems/omega.md O26.
struct Duplicates {
  std::size_t characters;
  float cosine;
};

// Source: docs/systems/omega.md O16, O27.
struct Surfacing {
  double least_cosine;
  double least_overlap;
  double least_score;
  std::size_t misses;
};

// Source: docs/systems/house.md H7.
struct WeakBest {
  double cosine;
  double words;
  std::size_t misses;
};

using Abstention = std::variant<std::monostate, Surfacing, WeakBest>;

// Source: docs/systems/omega.md O28.
struct Retry {
  double least_confidence;
  std::size_t results;
};

// Immutable once made; any number of threads may run it.
struct SearchPlan {
  std::vector<ChannelPlan> channels;
  Scoring scoring;
  SignalNeeds needs;
  std::optional<NeighbourRule> neighbours;
  std::optional<HotSet> hot_set;
  std::optional<FastPath> fast_path;
  std::shared_ptr<const SearchPlan> at_once;  // what runs where the fast path answers; null: this
  std::optional<StrongSignal> strong_signal;
  std::shared_ptr<const SearchPlan> by_words;  // where the lexical channel decides; null: this
  std::optional<Scoring> before_cluster;       // the factors before "cluster"
  Expansion expansion;
  std::optional<Rerank> rerank;
  std::optional<Duplicates> duplicates;
  Abstention abstention;
  std::optional<Retry> retry;
  std::shared_ptr<const SearchPlan> relaxed;  // what runs when a search is retried
  bool is_normalised = false;                 // scores are divided by the best (O29)

  [[nodiscard]] std::size_t followed(std::size_t k) const {
    if (const auto* graph = std::get_if<GraphExpansion>(&expansion)) {
      return graph->seeds;
    }
    return k;
  }
  // Places kept for what links bring.
  [[nodiscard]] std::size_t kept_places(std::size_t k) const {
    if (const auto* links = std::get_if<AssociativeExpansion>(&expansion)) {
      return static_cast<std::size_t>(links->quota * static_cast<double>(k));
    }
    return 0;
  }
  [[nodiscard]] bool has_expansion() const {
    return !std::holds_alternative<std::monostate>(expansion);
  }
  // Later stages leave results out, so that more than k are looked at.
  [[nodiscard]] bool is_deep() const {
    return duplicates.has_value() || std::holds_alternative<Surfacing>(abstention);
  }
};

}  // namespace oneiros::search
