// The union of channels with a matrix of raw scores, channel by channel.
#include "ranking/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace oneiros {

namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

template <typename Real>
void spread(std::span<const std::uint32_t> ranks, std::span<const Real> by_rank, double* scores) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    scores[i] = ranks[i] == 0 ? kNoScore : static_cast<double>(by_rank[ranks[i] - 1]);
  }
}

}  // namespace

Candidates::Candidates(std::span<const ChannelHits> channels) {
  std::vector<std::span<const std::uint32_t>> rankings;
  for (const ChannelHits& channel : channels) {
    const std::size_t count = std::visit([](auto scores) { return scores.size(); }, channel.scores);
    if (count != channel.rows.size()) {
      throw std::invalid_argument("scores: expected one a row (" +
                                  std::to_string(channel.rows.size()) + "), got " +
                                  std::to_string(count));
    }
    rankings.push_back(channel.rows);
    is_present_.push_back(!channel.rows.empty());
    possible_.push_back(kNoScore);
  }
  hits_.build(rankings);
  scores_.resize(channels.size() * size());
  for (std::size_t channel = 0; channel < channels.size(); ++channel) {
    double* const scores = scores_.data() + channel * size();
    std::visit([&](auto by_rank) { spread(ranks(channel), by_rank, scores); },
               channels[channel].scores);
  }
}

void Candidates::append(std::span<const std::uint32_t> added) {
  std::vector<std::uint32_t> all(rows().begin(), rows().end());
  all.insert(all.end(), added.begin(), added.end());
  std::ranges::sort(all);
  if (const auto twice = std::ranges::adjacent_find(all); twice != all.end()) {
    throw std::invalid_argument("rows: " + std::to_string(*twice) + " is a candidate already");
  }
  const std::size_t before = size();
  std::vector<double> scores(channel_count() * all.size(), kNoScore);
  for (std::size_t channel = 0; channel < channel_count(); ++channel) {
    std::copy_n(scores_.begin() + static_cast<std::ptrdiff_t>(channel * before), before,
                scores.begin() + static_cast<std::ptrdiff_t>(channel * all.size()));
  }
  hits_.append(added);
  neighbour_gains_.clear();
  scores_ = std::move(scores);
}

void Candidates::lend(std::vector<double> shares) {
  if (shares.size() != size()) {
    throw std::invalid_argument("shares: expected one a row (" + std::to_string(size()) +
                                "), got " + std::to_string(shares.size()));
  }
  neighbour_gains_ = std::move(shares);
}

void Candidates::add_pairs(std::span<const double> scores, double possible) {
  if (const std::size_t wanted = size() - pair_scores_.size(); scores.size() != wanted) {
    throw std::invalid_argument("pairs: expected one score a row without one (" +
                                std::to_string(wanted) + "), got " + std::to_string(scores.size()));
  }
  pair_scores_.insert(pair_scores_.end(), scores.begin(), scores.end());
  possible_pairs_ = possible;
}

std::vector<std::uint32_t> Candidates::missing(std::size_t channel) const {
  const std::span<const double> known = scores(channel);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (std::isnan(known[i])) {
      found.push_back(rows()[i]);
    }
  }
  return found;
}

void Candidates::fill(std::size_t channel, std::span<const double> scores) {
  const std::span<double> known = std::span(scores_).subspan(channel * size(), size());
  const auto wanted = static_cast<std::size_t>(
      std::ranges::count_if(known, [](double s) { return std::isnan(s); }));
  if (scores.size() != wanted) {
    throw std::invalid_argument("scores: expected one a missing row (" + std::to_string(wanted) +
                                "), got " + std::to_string(scores.size()));
  }
  is_present_[channel] = true;
  std::size_t next = 0;
  for (double& score : known) {
    if (std::isnan(score)) {
      score = scores[next++];
    }
  }
}

}  // namespace oneiros
