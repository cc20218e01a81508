#include "ranking/reciprocal_rank.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

constexpr std::size_t kKeptRanks = std::size_t{1} << 16;

// What each rank contributes, by rank; nothing for rank 0, which says "absent". Kept by a thread
// from one query to the next: they mostly ask for the same.
class Contributions {
 public:
  std::span<const double> up_to(std::size_t rank, const ReciprocalRank& rule) {
    if (k_ != rule.k || is_normalised_ != rule.is_normalised) {
      k_ = rule.k;
      is_normalised_ = rule.is_normalised;
      values_.assign(1, 0.0);
    }
    const double best = is_normalised_ ? 1.0 / (k_ + 1.0) : 1.0;
    for (std::size_t next = values_.size(); next <= rank; ++next) {
      values_.push_back(1.0 / (k_ + static_cast<double>(next)) / best);
    }
    return values_;
  }

  void trim() {
    if (values_.capacity() > kKeptRanks) {
      *this = Contributions();
    }
  }

 private:
  double k_ = -1.0;  // no rule has it
  bool is_normalised_ = false;
  std::vector<double> values_;
};

Contributions& contributions_of_thread() {
  thread_local Contributions contributions;
  return contributions;
}

template <std::integral Id>
void add_list(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::size_t list,
              std::span<const double> parts, std::span<double> scores) {
  const double weight = rule.weights.empty() ? 1.0 : rule.weights[list];
  const std::span<const std::uint32_t> ranks = lists.ranks(list);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores[i] += weight * parts[ranks[i]];
  }
}

}  // namespace

void require_valid(const ReciprocalRank& rule) {
  require(rule.k >= 0 && rule.k <= 1e9, "k", "must be in [0, 1e9]", rule.k);
  for (const double weight : rule.weights) {
    require(kWeight, "weights", weight);
  }
}

template <std::integral Id>
void fuse(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::span<double> scores) {
  assert(scores.size() == lists.size());
  if (!rule.weights.empty() && rule.weights.size() != lists.list_count()) {
    throw std::invalid_argument("weights: expected one a ranking (" +
                                std::to_string(lists.list_count()) + "), got " +
                                std::to_string(rule.weights.size()));
  }
  Contributions& contributions = contributions_of_thread();
  const std::span<const double> parts = contributions.up_to(lists.longest(), rule);
  std::fill(scores.begin(), scores.end(), 0.0);
  for (std::size_t list = 0; list < lists.list_count(); ++list) {
    add_list(rule, lists, list, parts, scores);
  }
  if (rule.is_normalised && !scores.empty()) {
    const double best = *std::max_element(scores.begin(), scores.end());
    for (double& score : scores) {
      score = best > 0 ? score / best : score;
    }
  }
  contributions.trim();
}

template void fuse(const ReciprocalRank&, const RankedUnion<std::uint32_t>&, std::span<double>);
template void fuse(const ReciprocalRank&, const RankedUnion<std::int64_t>&, std::span<double>);

template <std::integral Id>
void fuse_one(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::size_t list,
              std::span<double> scores) {
  assert(scores.size() == lists.size());
  Contributions& contributions = contributions_of_thread();
  std::fill(scores.begin(), scores.end(), 0.0);
  add_list(rule, lists, list, contributions.up_to(lists.longest(), rule), scores);
  contributions.trim();
}

template void fuse_one(const ReciprocalRank&, const RankedUnion<std::uint32_t>&, std::size_t,
                       std::span<double>);

void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const ReciprocalRank& rule, std::size_t top, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores) {
  require_valid(rule);
  thread_local RankedUnion<std::int64_t> lists;
  thread_local std::vector<double> sums;
  thread_local std::vector<std::uint32_t> order;
  lists.build(rankings);
  sums.resize(lists.size());
  fuse(rule, lists, sums);
  best_first(sums, top, order);
  ids.resize(order.size());
  scores.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ids[i] = lists.ids()[order[i]];
    scores[i] = sums[order[i]];
  }
  if (sums.capacity() > kKeptRanks) {
    lists = {};
    sums = {};
    order = {};
  }
}

}  // namespace oneiros
