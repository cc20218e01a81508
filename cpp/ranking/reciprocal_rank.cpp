// Reciprocal rank fusion over unions of lists, or directly over ids without the matrix of ranks.
//
// Contributions weight / (k + rank) come from a table per k, kept by thread. Sums are formed in
// list order, so both implementations give the same bits. Cost: linear in the entries, plus the
// selection of the best.
#include "ranking/reciprocal_rank.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

#include "ranking/id_table.h"
#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

constexpr std::size_t kKeptRanks = std::size_t{1} << 16;

// The contribution of each rank; 0 for rank 0, which means absent. Cached per thread, as most
// queries use the same k.
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
  double k_ = -1.0;  // not a valid k
  bool is_normalised_ = false;
  std::vector<double> values_;
};

// Not inlined, like the other one below: in a loop, compilers may repeat the look-up of a
// thread-local object.
__attribute__((noinline)) Contributions& contributions_of_thread() {
  thread_local Contributions contributions;
  return contributions;
}

double weight_of(const ReciprocalRank& rule, std::size_t list) {
  return rule.weights.empty() ? 1.0 : rule.weights[list];
}

// Throws std::invalid_argument unless there is one weight per list, or none.
void require_one_weight_a_list(const ReciprocalRank& rule, std::size_t lists) {
  if (!rule.weights.empty() && rule.weights.size() != lists) {
    throw std::invalid_argument("weights: expected one a ranking (" + std::to_string(lists) +
                                "), got " + std::to_string(rule.weights.size()));
  }
}

// Divides scores by their maximum; no effect if it is 0.
void divide_by_best(std::span<double> scores) {
  const double best = scores.empty() ? 0.0 : *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) {
    score = best > 0 ? score / best : score;
  }
}

// Ids with their sums, for callers that do not need the ranks.
class RankedSums {
 public:
  void build(std::span<const std::span<const std::int64_t>> rankings, const ReciprocalRank& rule) {
    const std::size_t entries = entry_count(rankings);
    ids_.resize(entries);
    sums_.assign(entries, 0.0);
    last_list_.assign(entries, 0);
    table_.begin(entries);
    for (std::size_t list = 0; list < rankings.size(); ++list) {
      add(rankings[list], static_cast<std::uint32_t>(list + 1), weight_of(rule, list),
          contributions_of_thread().up_to(rankings[list].size(), rule));
    }
    contributions_of_thread().trim();
  }

  [[nodiscard]] std::span<double> sums() { return std::span(sums_).first(table_.size()); }

  void best_first(std::size_t top, std::vector<std::int64_t>& ids, std::vector<double>& scores) {
    oneiros::best_first(sums(), top, order_);
    ids.resize(order_.size());
    scores.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      ids[i] = ids_[order_[i]];
      scores[i] = sums_[order_[i]];
    }
  }

  void trim() {
    if (sums_.capacity() > kKeptRanks) {
      *this = RankedSums();
    }
  }

 private:
  void add(std::span<const std::int64_t> ranking, std::uint32_t list, double weight,
           std::span<const double> parts) {
    std::int64_t* const ids = ids_.data();
    std::size_t rank = 0;
    for (const std::int64_t id : ranking) {
      ++rank;
      const std::uint32_t number = table_.number_of(id, ids);
      // An id repeated within a list keeps its first, best rank.
      sums_[number] += last_list_[number] == list ? 0.0 : weight * parts[rank];
      last_list_[number] = list;
    }
  }

  IdTable<std::int64_t> table_;
  std::vector<std::int64_t> ids_;  // capacity for every entry of the lists, as below
  std::vector<double> sums_;
  std::vector<std::uint32_t> last_list_;  // 1 + the list of the last contribution
  std::vector<std::uint32_t> order_;      // of the best ids
};

__attribute__((noinline)) RankedSums& sums_of_thread() {
  thread_local RankedSums sums;
  return sums;
}

// Adds one list's contributions to the scores.
template <std::integral Id>
void add_list(const ReciprocalRank& rule, const RankedUnion<Id>& lists, std::size_t list,
              std::span<const double> parts, std::span<double> scores) {
  const double weight = weight_of(rule, list);
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
  require_one_weight_a_list(rule, lists.list_count());
  Contributions& contributions = contributions_of_thread();
  const std::span<const double> parts = contributions.up_to(lists.longest(), rule);
  std::fill(scores.begin(), scores.end(), 0.0);
  for (std::size_t list = 0; list < lists.list_count(); ++list) {
    add_list(rule, lists, list, parts, scores);
  }
  if (rule.is_normalised) {
    divide_by_best(scores);
  }
  contributions.trim();
}

template void fuse(const ReciprocalRank&, const RankedUnion<std::uint32_t>&, std::span<double>);

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
  require_one_weight_a_list(rule, rankings.size());
  RankedSums& lists = sums_of_thread();
  lists.build(rankings, rule);
  if (rule.is_normalised) {
    divide_by_best(lists.sums());
  }
  lists.best_first(top, ids, scores);
  lists.trim();
}

}  // namespace oneiros
