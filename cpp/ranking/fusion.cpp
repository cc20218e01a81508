#include "ranking/fusion.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

constexpr std::size_t kKeptEntries = std::size_t{1} << 16;

}  // namespace

void require_valid(const FusionRule& rule) {
  require(rule.k >= 0 && rule.k <= 1e9, "k", "must be in [0, 1e9]", rule.k);
  for (const double weight : rule.weights) {
    require_weight("weights", weight);
  }
}

template <std::integral Id>
void Fusion<Id>::fuse(std::span<const std::span<const Id>> rankings, const FusionRule& rule) {
  if (!rule.weights.empty() && rule.weights.size() != rankings.size()) {
    throw std::invalid_argument("weights: expected one a ranking (" +
                                std::to_string(rankings.size()) + "), got " +
                                std::to_string(rule.weights.size()));
  }
  std::size_t entries = 0;
  for (const auto ranking : rankings) {
    entries += ranking.size();
  }
  prepare(rankings.size(), entries);
  for (std::size_t channel = 0; channel < rankings.size(); ++channel) {
    const double weight = rule.weights.empty() ? 1.0 : rule.weights[channel];
    const double best = rule.normalise == Normalise::channel ? 1.0 / (rule.k + 1.0) : 1.0;
    add_channel(channel, rankings[channel], rule.k, weight / best);
  }
  if (rule.normalise == Normalise::channel && !scores_.empty()) {
    const double best = *std::max_element(scores_.begin(), scores_.end());
    for (double& score : scores_) {
      score = best > 0 ? score / best : score;
    }
  }
}

template <std::integral Id>
void Fusion<Id>::prepare(std::size_t channels, std::size_t entries) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * entries, 16));
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  slots_.assign(slots, kNobody);
  ids_.clear();
  scores_.clear();
  ids_.reserve(entries);
  scores_.reserve(entries);
  room_ = entries;
  ranks_.assign(channels * entries, 0);
}

template <std::integral Id>
std::uint32_t Fusion<Id>::candidate_of(Id id) {
  // Fibonacci hashing: neighbouring ids spread over the table.
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL) >> shift_;
  while (slots_[slot] != kNobody) {
    if (ids_[slots_[slot]] == id) {
      return slots_[slot];
    }
    slot = (slot + 1) & mask;
  }
  const auto candidate = static_cast<std::uint32_t>(ids_.size());
  slots_[slot] = candidate;
  ids_.push_back(id);
  scores_.push_back(0.0);
  return candidate;
}

template <std::integral Id>
void Fusion<Id>::add_channel(std::size_t channel, std::span<const Id> ranking, double k,
                             double scale) {
  std::uint32_t* const ranks = ranks_.data() + channel * room_;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const std::uint32_t candidate = candidate_of(ranking[i]);
    if (ranks[candidate] == 0) {
      const std::size_t rank = i + 1;
      ranks[candidate] = static_cast<std::uint32_t>(rank);
      scores_[candidate] += scale / (k + static_cast<double>(rank));
    }
  }
}

template <std::integral Id>
void Fusion<Id>::trim() {
  if (ids_.capacity() > kKeptEntries) {
    *this = Fusion();
  }
}

template class Fusion<std::uint32_t>;
template class Fusion<std::int64_t>;

void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const FusionRule& rule, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores) {
  require_valid(rule);
  thread_local Fusion<std::int64_t> fusion;
  thread_local std::vector<std::uint32_t> order;
  fusion.fuse(rankings, rule);
  best_first(fusion.scores(), fusion.size(), order);
  ids.resize(order.size());
  scores.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ids[i] = fusion.ids()[order[i]];
    scores[i] = fusion.scores()[order[i]];
  }
  fusion.trim();
}

}  // namespace oneiros
