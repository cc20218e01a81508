#include "ranking/fusion.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "ranking/formulas/house.h"
#include "ranking/formulas/omega.h"

namespace oneiros {

namespace {

constexpr double kNoEmbedding = 0.1;  // docs/systems/cognitive.md C9

struct Extremes {
  double worst = std::numeric_limits<double>::infinity();
  double best = -std::numeric_limits<double>::infinity();
};

Extremes extremes_of(std::span<const double> scores) {
  Extremes found;
  for (const double score : scores) {  // NaN compares false: it is neither
    found.worst = score < found.worst ? score : found.worst;
    found.best = score > found.best ? score : found.best;
  }
  return found;
}

// Not std::clamp: what is no score stays none.
double clamped(double value) {
  const double raised = value < 0.0 ? 0.0 : value;
  return raised > 1.0 ? 1.0 : raised;
}

double share_of(double score, double best) { return best > 0 ? clamped(score / best) : 0.0; }

// A channel's relevances one by one: what is the same for all is worked out first.
class Relevance {
 public:
  Relevance(Normalise normalise, double low, std::span<const double> scores)
      : normalise_(normalise), low_(low), scores_(scores) {
    if (normalise == Normalise::max || normalise == Normalise::minmax_floor) {
      extremes_ = extremes_of(scores);
    }
  }

  // Calls visit(i, relevance) for each candidate that has a score.
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
  Extremes extremes_;
};

void fuse_as(const ReciprocalRank& rule, const Candidates& candidates,
             std::span<double> relevance) {
  fuse(rule, candidates.hits(), relevance);
}

void fuse_as(const WeightedSum& rule, const Candidates& candidates, std::span<double> relevance) {
  std::fill(relevance.begin(), relevance.end(), 0.0);
  for (std::size_t channel = 0; channel < rule.channels.size(); ++channel) {
    const auto [weight, normalise] = rule.channels[channel];
    Relevance(normalise, rule.low, candidates.scores(channel))
        .for_each(
            [&, weight = weight](std::size_t i, double value) { relevance[i] += weight * value; });
  }
}

void fuse_as(const WeightedMean& rule, const Candidates& candidates, std::span<double> relevance) {
  std::fill(relevance.begin(), relevance.end(), 0.0);
  std::vector<double> weights(relevance.size());
  for (std::size_t channel = 0; channel < rule.channels.size(); ++channel) {
    const auto [weight, normalise] = rule.channels[channel];
    Relevance(normalise, rule.low, candidates.scores(channel))
        .for_each([&, weight = weight](std::size_t i, double value) {
          relevance[i] += weight * clamped(value);
          weights[i] += weight;
        });
  }
  for (std::size_t i = 0; i < relevance.size(); ++i) {
    relevance[i] = weights[i] > 0 ? relevance[i] / weights[i] : 0.0;
  }
}

// The channel's scores where the query asked it.
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

void fuse_as(const Blend& rule, const Candidates& candidates, std::span<double> relevance) {
  const std::span<const double> bm25 = scores_of(candidates, rule.lexical);
  const std::span<const double> cosines = scores_of(candidates, rule.vector);
  const double weight = bm25.empty() ? 0.0 : cosines.empty() ? 1.0 : rule.weight;
  const double best = std::max(extremes_of(bm25).best, 0.0);
  for (std::size_t i = 0; i < relevance.size(); ++i) {
    const double words = bm25.empty() ? 0.0 : or_else(bm25[i], 0.0);
    const double meaning = cosines.empty() ? 0.0 : or_else(cosines[i], 0.0);
    relevance[i] = formulas::BlendWithBest::value(&weight, words, best, meaning);
  }
}

}  // namespace

void Fusion::fuse(const Candidates& candidates, std::span<double> relevance) const {
  assert(relevance.size() == candidates.size());
  assert(candidates.channel_count() == channel_count_);
  std::visit([&](const auto& rule) { fuse_as(rule, candidates, relevance); }, rule_);
}

}  // namespace oneiros
