// How what the channels found becomes one relevance a candidate. One rule a kind.
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

// How a channel's raw scores become relevances; among the scores that it has.
enum class Normalise : std::uint8_t {
  none,          // as they are
  max,           // share of the best, clamped to [0, 1]; 0 where the best is not above 0 (M2)
  clamp,         // clamped to [0, 1] (M1)
  minmax_floor,  // from `low` for the worst to 1 for the best (O3)
};

struct ChannelRule {
  double weight = 1;
  Normalise normalise = Normalise::none;
};

// The sum of weight x relevance; a channel without the candidate adds 0.
// Source: docs/systems/mnemosyne.md M4.
struct WeightedSum {
  std::vector<ChannelRule> channels;
  double low = 0;
};

// The weighted mean of the relevances clamped to [0, 1] over the channels that found anything. A
// channel without a score for the candidate counts 0. The mean is 0 if these weights are all 0.
// Source: docs/systems/omega.md O32.
struct WeightedMean {
  std::vector<ChannelRule> channels;
  double low = 0;
};

// The candidate's own cosine, 0.1 without an embedding; the share of the best BM25 where the vector
// channel is absent. Source: docs/systems/cognitive.md C5, C6, C9; the last is ours.
struct RetentionWeightedUnion {
  std::optional<std::size_t> lexical;
  std::optional<std::size_t> vector;
};

// weight x bm25 / best bm25 + (1 - weight) x max(cosine, 0), a score that is missing being 0; an
// absent channel leaves the other its whole weight. Source: docs/systems/house.md H2, H3.
struct Blend {
  std::optional<std::size_t> lexical;
  std::optional<std::size_t> vector;
  double weight = 0;
};

using FusionParameter = std::variant<std::monostate, double, std::string, std::vector<double>,
                                     std::vector<std::string>>;
using FusionParameters = std::map<std::string, FusionParameter, std::less<>>;

// Immutable once made; any number of threads may use it.
class Fusion {
 public:
  // By name, for these channels. reciprocal_rank {k, weights, normalise: "none" | "channel"};
  // weighted_sum and weighted_mean {weights, normalise: one a channel, low}; blend {weight};
  // retention_weighted_union {}. Weights are one a channel, in order, or none: all 1; `low` may be
  // left out where no channel is normalised by it.
  // Throws std::invalid_argument for an unknown kind; a parameter that is missing, surplus, of
  // another type or outside its range; two channels of one name; a blend or union without a channel
  // called "lexical" or "vector".
  Fusion(std::string_view kind, const FusionParameters& parameters,
         std::span<const std::string> channels);

  // Writes each candidate's relevance. REQUIRES: relevance.size() == candidates.size() and as many
  // channels as the constructor was given.
  void fuse(const Candidates& candidates, std::span<double> relevance) const;

  // Writes what one channel adds to each candidate's relevance, 0 where it adds nothing. Added in
  // the channels' order, from 0, these are the relevance to the bit: of reciprocal_rank that is not
  // normalised, of weighted_sum and of blend. The other rules are no sums: all 0.
  // REQUIRES: as fuse(), and channel < channel_count().
  void part(const Candidates& candidates, std::size_t channel, std::span<double> values) const;

  [[nodiscard]] std::size_t channel_count() const noexcept { return channel_count_; }

 private:
  std::variant<ReciprocalRank, WeightedSum, WeightedMean, RetentionWeightedUnion, Blend> rule_;
  std::size_t channel_count_;
};

}  // namespace oneiros
