// The part of a profile that a search runs: channels, scoring and stages as plain data. Python
// builds a plan once per profile; each stage is an optional member, and an empty member costs
// nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conflicts/conflict.h"
#include "lexical/query/word_shares.h"
#include "ranking/plan.h"
#include "ranking/session_neighbours.h"
#include "search/confidence.h"

namespace oneiros::search {

// The sources of candidates: BM25 over words, cosine over embeddings, nearness to a date range.
enum class ChannelKind : std::uint8_t { lexical, vector, temporal };

// Turns raw BM25 into OMEGA's relevance: scores are rescaled to [floor, 1] over the hit list, then
// mixed with the share of query words found in the text, `share` being the weight of the latter.
// Source: docs/systems/omega.md O3.
struct WordRelevance {
  double share;
  double floor;
};

// One channel of a profile. Hits are limited to `depth`, or to `per_result` times k when that is
// above 0. A channel that reaches k returns k hits if that is more.
struct ChannelPlan {
  ChannelKind kind = ChannelKind::lexical;
  std::size_t depth = 100;
  std::size_t per_result = 0;
  bool reaches_k = false;
  // Vector channel: hits with a smaller cosine are dropped.
  std::optional<double> minimum = {};
  // Lexical channel only; without it hits keep their raw BM25 scores.
  std::optional<WordRelevance> words = {};
  // Lexical channel only: what the words of a query weigh (H17, H18, H20).
  lexical::WordShares shares = {};

  // The number of hits to retrieve for k results, at most 100,000 when it is a multiple of k.
  [[nodiscard]] std::size_t depth_for(std::size_t k) const {
    constexpr std::size_t kDeepest = 100'000;
    std::size_t count = depth;
    if (per_result > 0) {
      count = std::clamp<std::size_t>(k > kDeepest ? kDeepest : per_result * k, 1, kDeepest);
    }
    return reaches_k ? std::max(count, k) : count;
  }
};

// A compiled program over candidates. With `fills_scores`, candidates that a channel did not return
// are scored by that channel before the program runs, because the program reads raw scores.
struct Scoring {
  std::shared_ptr<const Plan> plan;
  bool fills_scores = false;
};

// Signals of the query that the programs of a profile read. Signals not needed are not computed.
struct SignalNeeds {
  // Factors computed by a callable of the caller (SearchCallbacks in Python).
  bool has_functions = false;
  bool temporal = false;       // O22: position relative to the named time
  bool named_time = false;     // H10: position relative to the named time
  bool overlap = false;        // O18: share of query words in text and tags
  bool lexical_share = false;  // the gate of M8: share of query words in the text
  bool cluster = false;        // O21: cosine to the centre of the best candidates
  bool baseline = false;       // H3: what cosines count from
};

// Adds the `size` most accessed memories as candidates if at least `least_overlap` of the query's
// words occur in them; their score is `weight` times that share. Source: docs/systems/omega.md O1.
struct HotSet {
  std::size_t size;
  double least_overlap;
  double weight;
};

// Accepts lexical hits almost identical to the query: trigram similarity of the first `characters`
// at or above `similarity`. Source: docs/systems/omega.md O1.
struct FastPath {
  double similarity;
  std::size_t characters;
};

// Ranks by words alone if the best lexical score reaches `threshold` and leads the second by `gap`.
// Source: docs/systems/omega.md O5.
struct StrongSignal {
  double threshold;
  double gap;
};

// Follows the links of all direct results and scores the reached memories as candidates of their
// own. Links below `least_link` and paths below `least_path` (the product of link weights) are not
// followed. `depth` bounds the memories reached; `bridged` is the number of top results between
// which bridges are sought; `quota` is the share of k reserved for linked memories. A memory two
// hops away needs `least_score`. Source: docs/systems/cognitive.md C9, C10, C14.
struct AssociativeExpansion {
  double least_link;
  double least_path;
  unsigned hops;
  double least_score;
  std::size_t bridged;
  std::size_t depth;
  double quota;
  Scoring scoring;  // its program reads the signal "path_weight"
};

// Follows the links of the best `seeds` results. A reached memory gets its seed's score times
// `weight`, the link weights and `per_hop` for each hop. Source: docs/systems/omega.md O24.
struct GraphExpansion {
  std::size_t seeds;
  unsigned hops;
  double per_hop;
  double least_link;
  double least_score;
  double weight;
  // Used for the rules and the retention of reached memories, not for their scores.
  Scoring lifecycle;
};

using Expansion = std::variant<std::monostate, AssociativeExpansion, GraphExpansion>;

// Passes the `top` best results to the caller's reranker, before or after link expansion.
struct Rerank {
  std::size_t top;
  bool after_links;
};

// Drops results whose first `characters` equal those of a better result, or whose embedding has at
// least this `cosine` to one. Source: docs/systems/omega.md O26.
struct Duplicates {
  std::size_t characters;
  float cosine;
};

// Of two of the first `depth` results that state different values of one fact, with a confidence of
// at least `least_confidence`, the newer leads: its score is raised to just above the older one's.
// Source: docs/systems/house.md H12.
struct NewerFirst {
  std::size_t depth;
  double least_confidence;
  conflicts::Model model;
};

// Removes results below both `least_cosine` and `least_overlap`, and those that score below
// `least_score`. If none is left, the `misses` nearest candidates are reported instead. Source:
// docs/systems/omega.md O16, O27.
struct Surfacing {
  double least_cosine;
  double least_overlap;
  double least_score;
  std::size_t misses;
};

// Returns no results if the best cosine, above the baseline if the plan needs one, is below
// `cosine` and less than the share `words` of the query's words occurs in any candidate. Source:
// docs/systems/house.md H7.
struct WeakBest {
  double cosine;
  double words;
  std::size_t misses;
};

using Abstention = std::variant<std::monostate, Surfacing, WeakBest>;

// Runs the search again with the relaxed plan if the mean confidence of the first `results` is
// below `least_confidence`, and keeps the better attempt. Source: docs/systems/omega.md O28.
struct Retry {
  double least_confidence;
  std::size_t results;
};

// Everything a search needs of its profile. Immutable after construction: any number of threads may
// run the same plan. The nested plans have the same channels and differ in scoring and stages.
struct SearchPlan {
  std::vector<ChannelPlan> channels;
  Scoring scoring;
  SignalNeeds needs;
  // The largest distance of a pair of query words in a text; 0: pairs are not looked for (H14).
  std::uint32_t pair_window = 0;
  // The least share of their weight that vectors of spelling have; 1: always the whole (H3).
  double spelling = 1.0;
  std::optional<NeighbourRule> neighbours;
  std::optional<HotSet> hot_set;
  std::optional<FastPath> fast_path;
  // The plan to continue with after the fast path; null: this plan.
  std::shared_ptr<const SearchPlan> at_once;
  std::optional<StrongSignal> strong_signal;
  // The plan to continue with after a strong lexical signal; null: this plan.
  std::shared_ptr<const SearchPlan> by_words;
  // The factors applied before "cluster"; they choose the candidates whose centre is computed.
  std::optional<Scoring> before_cluster;
  std::optional<NewerFirst> newer_first;
  Expansion expansion;
  std::optional<Rerank> rerank;
  std::optional<Duplicates> duplicates;
  Abstention abstention;
  std::optional<Retry> retry;
  // The plan of a retry; set if `retry` is.
  std::shared_ptr<const SearchPlan> relaxed;
  // The confidence of the first result, for plans without a retry, which has one of its own.
  // REQUIRES: the lexical channel gives raw BM25 scores.
  std::optional<ConfidenceModel> confidence;
  // Divides all scores by the best one (O29).
  bool is_normalised = false;

  // The place of the channel of a kind; no value if the plan has none.
  [[nodiscard]] std::optional<std::size_t> place_of(ChannelKind kind) const {
    const auto found = std::ranges::find(channels, kind, &ChannelPlan::kind);
    if (found == channels.end()) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - channels.begin());
  }
  // The number of results whose links are followed.
  [[nodiscard]] std::size_t followed(std::size_t k) const {
    if (const auto* graph = std::get_if<GraphExpansion>(&expansion)) {
      return graph->seeds;
    }
    return k;
  }
  // Places reserved among k results for memories reached by links.
  [[nodiscard]] std::size_t kept_places(std::size_t k) const {
    if (const auto* links = std::get_if<AssociativeExpansion>(&expansion)) {
      return static_cast<std::size_t>(links->quota * static_cast<double>(k));
    }
    return 0;
  }
  [[nodiscard]] bool has_expansion() const {
    return !std::holds_alternative<std::monostate>(expansion);
  }
  // True if later stages remove results: the ranking must then return more than k.
  [[nodiscard]] bool is_deep() const {
    return duplicates.has_value() || std::holds_alternative<Surfacing>(abstention);
  }
};

}  // namespace oneiros::search
