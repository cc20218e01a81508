// Fusion: how ranks and raw scores of several channels become one relevance per candidate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ranking/candidates.h"
#include "ranking/reciprocal_rank.h"

namespace oneiros {

// How a channel's raw scores become relevances, over the scores it has.
enum class Normalise : std::uint8_t {
  none,          // unchanged
  max,           // divided by the best and clamped to [0, 1]; 0 if the best is not positive (M2)
  clamp,         // clamped to [0, 1] (M1)
  minmax_floor,  // linear from `low` for the worst to 1 for the best (O3)
};

struct ChannelRule {
  double weight = 1;
  Normalise normalise = Normalise::none;
};

// Sum of weight x relevance; channels without the candidate add 0.
// Source: docs/systems/mnemosyne.md M4.
struct WeightedSum {
  std::vector<ChannelRule> channels;
  double low = 0;
};

// Weighted mean of the relevances, clamped to [0, 1], over the channels that returned anything. A
// channel without a score for the candidate counts as 0. 0 if those weights are all 0.
// Source: docs/systems/omega.md O32.
struct WeightedMean {
  std::vector<ChannelRule> channels;
  double low = 0;
};

// The cosine of the candidate, 0.1 for one without an embedding. Without a vector channel, BM25
// divided by the best BM25. Source: docs/systems/cognitive.md C5, C6, C9; the latter is our
// addition.
struct RetentionWeightedUnion {
  std::optional<std::size_t> lexical;
  std::optional<std::size_t> vector;
};

// weight x bm25 / scale + (1 - weight) x max(cosine, 0), of the cosine above
// Candidates::cosine_baseline(); missing scores count as 0. If one channel is absent, the other has
// the whole weight; of 1 - weight, words have what Candidates::vector_share() leaves. With pairs,
// weight x pairs x pair score / scale is added, and the best and the possible bm25 include them.
// Source: docs/systems/house.md H2, H3, H14.
struct Blend {
  std::optional<std::size_t> lexical;
  std::optional<std::size_t> vector;
  double weight = 0;
  // The scale is the best bm25, or the geometric mean of that and Candidates::possible(), so that
  // words count for less where no text has many of the query's.
  bool is_by_coverage = false;
  // The share of Candidates::pair_scores() that counts.
  double pairs = 0;
};

using FusionParameter = std::variant<std::monostate, double, std::string, std::vector<double>,
                                     std::vector<std::string>>;
using FusionParameters = std::map<std::string, FusionParameter, std::less<>>;

// A fusion rule with its parameters. Immutable; any number of threads may use it.
class Fusion {
 public:
  // Creates a rule by name. reciprocal_rank {k, weights, normalise: "none" | "channel"};
  // weighted_sum and weighted_mean {weights, normalise: one per channel, low}; blend {weight,
  // scale: "best" | "coverage", pairs}; retention_weighted_union {}. `weights` has one value per
  // channel, in order, or is omitted (all 1). `low` may be omitted if no channel uses it. Throws
  // std::invalid_argument for an unknown kind, missing or unknown parameters, wrong types, values
  // out of range, duplicate channel names, and for a blend or union without a channel named
  // "lexical" or "vector".
  Fusion(std::string_view kind, const FusionParameters& parameters,
         std::span<const std::string> channels);

  // Writes the relevance of each candidate. Linear in candidates x channels. REQUIRES:
  // relevance.size() == candidates.size(); the channels are those of the constructor.
  void fuse(const Candidates& candidates, std::span<double> relevance) const;

  // Writes the contribution of one channel to each relevance, 0 if none. Added in channel order
  // starting from 0, contributions equal the relevance to the bit, for reciprocal_rank without
  // normalisation, weighted_sum and blend. Other rules are not sums: all 0. REQUIRES: as fuse(),
  // and channel < channel_count().
  void part(const Candidates& candidates, std::size_t channel, std::span<double> values) const;

  // Writes what pairs of words contribute to each relevance, which fuse() adds to the sum of the
  // channels' contributions; 0 if the rule reads none. REQUIRES: as fuse().
  void pair_part(const Candidates& candidates, std::span<double> values) const;

  [[nodiscard]] std::size_t channel_count() const noexcept { return channel_count_; }

 private:
  std::variant<ReciprocalRank, WeightedSum, WeightedMean, RetentionWeightedUnion, Blend> rule_;
  std::size_t channel_count_;
};

}  // namespace oneiros
