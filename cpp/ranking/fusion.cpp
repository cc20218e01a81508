// Fusion rules. Each rule is evaluated channel by channel in a fixed order, since the rounding of
// sums depends on it; contributions of single channels use the same operations as the whole.
#include "ranking/fusion.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "columns/cosine_baseline.h"
#include "ranking/formulas/house.h"
#include "ranking/formulas/omega.h"

namespace oneiros {

namespace {

constexpr double kNoEmbedding = 0.1;  // docs/systems/cognitive.md C9

struct ScoreRange {
  double worst = std::numeric_limits<double>::infinity();
  double best = -std::numeric_limits<double>::infinity();
};

// The worst and best score that is not NaN.
ScoreRange score_range(std::span<const double> scores) {
  ScoreRange found;
  for (const double score : scores) {  // NaN compares false and is ignored
    found.worst = score < found.worst ? score : found.worst;
    found.best = score > found.best ? score : found.best;
  }
  return found;
}

// Not std::clamp: NaN stays NaN.
double clamped(double value) {
  const double raised = value < 0.0 ? 0.0 : value;
  return raised > 1.0 ? 1.0 : raised;
}

double share_of(double score, double best) { return best > 0 ? clamped(score / best) : 0.0; }

// Computes a channel's relevances; values common to all candidates are computed once.
class Relevance {
 public:
  Relevance(Normalise normalise, double low, std::span<const double> scores)
      : normalise_(normalise), low_(low), scores_(scores) {
    if (normalise == Normalise::max || normalise == Normalise::minmax_floor) {
      extremes_ = score_range(scores);
    }
  }

  // Calls visit(i, relevance) for each candidate with a score.
  template <typename Visit>
  void for_each(Visit visit) const {
    switch (normalise_) {
      case Normalise::none:
        return each([](double score) { return score; }, visit);
      case Normalise::max:
        return each([&](double score) { return share_of(score, extremes_.best); }, visit);
      case Normalise::clamp:
        return each(clamped, visit);
      case Normalise::minmax_floor:
        return each(
            [&](double score) {
              return formulas::MinmaxFloorBetween::value(&low_, score, extremes_.worst,
                                                         extremes_.best);
            },
            visit);
    }
  }

 private:
  template <typename Map, typename Visit>
  void each(Map map, Visit visit) const {
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (!std::isnan(scores_[i])) {
        visit(i, map(scores_[i]));
      }
    }
  }

  Normalise normalise_;
  double low_;
  std::span<const double> scores_;
  ScoreRange extremes_;
};

void fuse_as(const ReciprocalRank& rule, const Candidates& candidates,
             std::span<double> relevance) {
  fuse(rule, candidates.hits(), relevance);
}

void add_part(const WeightedSum& rule, const Candidates& candidates, std::size_t channel,
              std::span<double> relevance) {
  const auto [weight, normalise] = rule.channels[channel];
  Relevance(normalise, rule.low, candidates.scores(channel))
      .for_each(
          [&, weight = weight](std::size_t i, double value) { relevance[i] += weight * value; });
}

void fuse_as(const WeightedSum& rule, const Candidates& candidates, std::span<double> relevance) {
  std::fill(relevance.begin(), relevance.end(), 0.0);
  for (std::size_t channel = 0; channel < rule.channels.size(); ++channel) {
    add_part(rule, candidates, channel, relevance);
  }
}

bool has_found_any(const Candidates& candidates, std::size_t channel) {
  return std::ranges::any_of(candidates.ranks(channel),
                             [](std::uint32_t rank) { return rank > 0; });
}

// Channels without any hit have no part in the mean.
void fuse_as(const WeightedMean& rule, const Candidates& candidates, std::span<double> relevance) {
  std::fill(relevance.begin(), relevance.end(), 0.0);
  double weights = 0;
  for (std::size_t channel = 0; channel < rule.channels.size(); ++channel) {
    if (!has_found_any(candidates, channel)) {
      continue;
    }
    const auto [weight, normalise] = rule.channels[channel];
    weights += weight;
    Relevance(normalise, rule.low, candidates.scores(channel))
        .for_each([&, weight = weight](std::size_t i, double value) {
          relevance[i] += weight * clamped(value);
        });
  }
  for (double& mean : relevance) {
    mean = weights > 0 ? mean / weights : 0.0;
  }
}

// The channel's scores, empty if the channel is absent.
std::span<const double> scores_of(const Candidates& candidates,
                                  const std::optional<std::size_t>& channel) {
  const bool is_there = channel && candidates.is_present(*channel);
  return is_there ? candidates.scores(*channel) : std::span<const double>{};
}

double or_else(double score, double otherwise) { return std::isnan(score) ? otherwise : score; }

void fuse_as(const RetentionWeightedUnion& rule, const Candidates& candidates,
             std::span<double> relevance) {
  if (const std::span<const double> cosines = scores_of(candidates, rule.vector);
      cosines.data() != nullptr) {
    std::ranges::transform(cosines, relevance.begin(),
                           [](double cosine) { return or_else(cosine, kNoEmbedding); });
    return;
  }
  std::fill(relevance.begin(), relevance.end(), 0.0);
  Relevance(Normalise::max, 0.0, scores_of(candidates, rule.lexical))
      .for_each([&](std::size_t i, double share) { relevance[i] = share; });
}

// The lexical weight of the blend: 1 if the vector channel is absent, and all that this channel's
// share leaves.
double weight_of_words(const Blend& rule, const Candidates& candidates) {
  if (scores_of(candidates, rule.lexical).empty()) {
    return 0.0;
  }
  if (scores_of(candidates, rule.vector).empty()) {
    return 1.0;
  }
  return rule.weight + (1.0 - rule.weight) * (1.0 - candidates.vector_share());
}

// The share of a candidate's pair score that counts; 0 if pairs play no part.
double pairs_of(const Blend& rule, const Candidates& candidates, std::size_t i) {
  const std::span<const double> scores = candidates.pair_scores();
  return i < scores.size() ? rule.pairs * scores[i] : 0.0;
}

// The best bm25 and pairs together; 0 if none is positive.
double best_of(const Blend& rule, const Candidates& candidates, std::span<const double> bm25) {
  if (rule.pairs == 0.0 || candidates.pair_scores().empty()) {
    return std::max(score_range(bm25).best, 0.0);
  }
  double best = 0.0;
  for (std::size_t i = 0; i < bm25.size(); ++i) {
    best = std::max(best, or_else(bm25[i], 0.0) + pairs_of(rule, candidates, i));
  }
  return best;
}

// What BM25 is divided by; 0 if no score is positive. By the roots, since their product could not
// be represented.
double scale_of(const Blend& rule, const Candidates& candidates, std::span<const double> bm25) {
  const double best = best_of(rule, candidates, bm25);
  double possible = rule.is_by_coverage && !bm25.empty() ? candidates.possible(*rule.lexical) : 0.0;
  if (possible > 0.0) {
    possible += rule.pairs * candidates.possible_pairs();
  }
  return possible > 0.0 ? std::sqrt(best) * std::sqrt(possible) : best;
}

void pair_part_as(const Blend& rule, const Candidates& candidates, std::span<double> values) {
  const std::span<const double> bm25 = scores_of(candidates, rule.lexical);
  if (rule.pairs == 0.0 || bm25.empty() || candidates.pair_scores().empty()) {
    return;
  }
  const double weight = weight_of_words(rule, candidates);
  const double scale = scale_of(rule, candidates, bm25);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double pairs = pairs_of(rule, candidates, i);
    values[i] = formulas::BlendWithBest::value(&weight, pairs, scale, 0.0);
  }
}

template <typename Rule>
void pair_part_as(const Rule& /*reads none*/, const Candidates& /*candidates*/,
                  std::span<double> /*values*/) {}

void fuse_as(const Blend& rule, const Candidates& candidates, std::span<double> relevance) {
  const std::span<const double> bm25 = scores_of(candidates, rule.lexical);
  const std::span<const double> cosines = scores_of(candidates, rule.vector);
  const double weight = weight_of_words(rule, candidates);
  const double scale = scale_of(rule, candidates, bm25);
  const double baseline = candidates.cosine_baseline();
  for (std::size_t i = 0; i < relevance.size(); ++i) {
    const double words = bm25.empty() ? 0.0 : or_else(bm25[i], 0.0);
    const double meaning =
        cosines.empty() ? 0.0 : above_baseline(or_else(cosines[i], 0.0), baseline);
    relevance[i] = formulas::BlendWithBest::value(&weight, words, scale, meaning);
  }
  if (rule.pairs != 0.0) {
    std::vector<double> gains(relevance.size());
    pair_part_as(rule, candidates, gains);
    for (std::size_t i = 0; i < relevance.size(); ++i) {
      relevance[i] += gains[i];
    }
  }
}

void part_as(const ReciprocalRank& rule, const Candidates& candidates, std::size_t channel,
             std::span<double> values) {
  if (!rule.is_normalised) {
    fuse_one(rule, candidates.hits(), channel, values);
  }
}

void part_as(const WeightedSum& rule, const Candidates& candidates, std::size_t channel,
             std::span<double> values) {
  add_part(rule, candidates, channel, values);
}

void part_as(const Blend& rule, const Candidates& candidates, std::size_t channel,
             std::span<double> values) {
  if (rule.lexical != channel && rule.vector != channel) {
    return;  // it contributes candidates, but no score
  }
  // The blend with the other channel's scores omitted, at the common weight: its term is then 0.
  const std::span<const double> bm25 = scores_of(candidates, rule.lexical);
  const std::span<const double> cosines = scores_of(candidates, rule.vector);
  const double weight = weight_of_words(rule, candidates);
  const double scale = scale_of(rule, candidates, bm25);
  const bool is_words = rule.lexical == channel;
  const std::span<const double> scores = is_words ? bm25 : cosines;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double score = or_else(scores[i], 0.0);
    values[i] = formulas::BlendWithBest::value(
        &weight, is_words ? score : 0.0, scale,
        is_words ? 0.0 : above_baseline(score, candidates.cosine_baseline()));
  }
}

// Rules that are not sums contribute 0.
template <typename Rule>
void part_as(const Rule& /*no sum*/, const Candidates& /*candidates*/, std::size_t /*channel*/,
             std::span<double> /*values*/) {}

}  // namespace

void Fusion::part(const Candidates& candidates, std::size_t channel,
                  std::span<double> values) const {
  assert(values.size() == candidates.size());
  assert(channel < channel_count_);
  std::fill(values.begin(), values.end(), 0.0);
  std::visit([&](const auto& rule) { part_as(rule, candidates, channel, values); }, rule_);
}

void Fusion::pair_part(const Candidates& candidates, std::span<double> values) const {
  assert(values.size() == candidates.size());
  std::fill(values.begin(), values.end(), 0.0);
  std::visit([&](const auto& rule) { pair_part_as(rule, candidates, values); }, rule_);
}

void Fusion::fuse(const Candidates& candidates, std::span<double> relevance) const {
  assert(relevance.size() == candidates.size());
  assert(candidates.channel_count() == channel_count_);
  std::visit([&](const auto& rule) { fuse_as(rule, candidates, relevance); }, rule_);
}

}  // namespace oneiros
