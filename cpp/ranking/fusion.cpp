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
  prepare(rankings);
  for (std::size_t channel = 0; channel < rankings.size(); ++channel) {
    const double weight = rule.weights.empty() ? 1.0 : rule.weights[channel];
    const double best = rule.normalise == Normalise::channel ? 1.0 / (rule.k + 1.0) : 1.0;
    double rank = 0.0;
    std::uint32_t* entry = entries_.data() + channel_begin_[channel];
    for (const Id id : rankings[channel]) {
      rank += 1.0;
      const std::uint32_t candidate = candidate_of(id);
      const bool is_repeat = last_channel_[candidate] == channel + 1;
      *entry++ = is_repeat ? kNobody : candidate;
      if (!is_repeat) {
        last_channel_[candidate] = channel + 1;
        scores_[candidate] += weight * (1.0 / (rule.k + rank) / best);
      }
    }
  }
  if (rule.normalise == Normalise::channel && size_ > 0) {
    const auto scores = std::span(scores_).first(size_);
    const double best = *std::max_element(scores.begin(), scores.end());
    for (double& score : scores) {
      score = best > 0 ? score / best : score;
    }
  }
}

template <std::integral Id>
void Fusion<Id>::prepare(std::span<const std::span<const Id>> rankings) {
  std::size_t entries = 0;
  channel_begin_.clear();
  for (const auto ranking : rankings) {
    channel_begin_.push_back(entries);
    entries += ranking.size();
  }
  channel_begin_.push_back(entries);
  if (entries >= kNobody) {
    throw std::invalid_argument("rankings: fewer than 2^32 - 1 entries, got " +
                                std::to_string(entries));
  }
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(3 * entries, 16));
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  slots_.assign(slots, kNobody);
  size_ = 0;
  ids_.resize(entries);
  scores_.resize(entries);
  last_channel_.resize(entries);
  entries_.resize(entries);
}

template <std::integral Id>
void Fusion<Id>::ranks(std::size_t channel, std::span<std::uint32_t> ranks) const {
  std::fill(ranks.begin(), ranks.end(), 0U);
  const std::size_t begin = channel_begin_[channel];
  for (std::size_t entry = begin; entry < channel_begin_[channel + 1]; ++entry) {
    if (entries_[entry] != kNobody) {
      ranks[entries_[entry]] = static_cast<std::uint32_t>(entry - begin + 1);
    }
  }
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
  const auto candidate = static_cast<std::uint32_t>(size_++);
  slots_[slot] = candidate;
  ids_[candidate] = id;
  scores_[candidate] = 0.0;
  last_channel_[candidate] = 0;
  return candidate;
}

template <std::integral Id>
void Fusion<Id>::trim() {
  if (entries_.capacity() > kKeptEntries) {
    *this = Fusion();
  }
}

template class Fusion<std::uint32_t>;
template class Fusion<std::int64_t>;

void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const FusionRule& rule, std::size_t top, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores) {
  require_valid(rule);
  thread_local Fusion<std::int64_t> fusion;
  thread_local std::vector<std::uint32_t> order;
  fusion.fuse(rankings, rule);
  best_first(fusion.scores(), top, order);
  ids.resize(order.size());
  scores.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ids[i] = fusion.ids()[order[i]];
    scores[i] = fusion.scores()[order[i]];
  }
  fusion.trim();
}

}  // namespace oneiros
