// Neighbours are found by walking the session lists up to `reach` steps from each candidate; a hash
// table maps rows to candidates. Linear in candidates x reach.
#include "ranking/session_neighbours.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ranking/id_table.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

// The index of each candidate by row.
class PlaceOfRow {
 public:
  explicit PlaceOfRow(std::span<const std::uint32_t> rows) : rows_(rows.begin(), rows.end()) {
    rows_.resize(rows.size() + 1);
    table_.begin(rows.size());
    for (const std::uint32_t row : rows) {
      table_.number_of(row, rows_.data());
    }
  }
  // The number of candidates if the row is not one of them.
  [[nodiscard]] std::size_t operator()(std::uint32_t row) const {
    return table_.find(row, rows_.data());
  }

 private:
  std::vector<std::uint32_t> rows_;
  IdTable<std::uint32_t> table_;
};

// The sessions as a scope sees them.
class ScopedSessions {
 public:
  ScopedSessions(const SessionOrder& order, const lexical::AllowedRows& scope)
      : order_(order), scope_(scope) {}

  [[nodiscard]] bool are_empty() const noexcept { return order_.is_empty(); }
  [[nodiscard]] std::uint32_t of(std::uint32_t row) const noexcept { return order_.session(row); }
  // The previous or next row in the session; kNobody if there is none.
  [[nodiscard]] std::uint32_t step(std::uint32_t row, bool is_back) const {
    while (row != SessionOrder::kNobody) {
      row = is_back ? order_.before(row) : order_.after(row);
      if (row == SessionOrder::kNobody || scope_.contains(row)) {
        break;
      }
    }
    return row;
  }
  // The number of rows skipped on the way to the neighbours of a row, up to `most`.
  [[nodiscard]] std::size_t skips(std::uint32_t row, unsigned reach, std::size_t most) const {
    std::size_t skipped = 0;
    for (const bool is_back : {true, false}) {
      std::uint32_t at = row;
      for (unsigned found = 0; found < reach && skipped < most;) {
        at = is_back ? order_.before(at) : order_.after(at);
        if (at == SessionOrder::kNobody) {
          break;
        }
        if (scope_.contains(at)) {
          ++found;
        } else {
          ++skipped;
        }
      }
    }
    return skipped;
  }

 private:
  const SessionOrder::Reader order_;
  const lexical::AllowedRows& scope_;
};

// The mean of all scores that are not NaN.
double mean_of(std::span<const double> scores) {
  double sum = 0;
  std::size_t count = 0;
  for (const double score : scores) {
    if (!std::isnan(score)) {
      sum += score;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

bool is_long_walk(const SessionOrder& order, std::span<const std::uint32_t> rows,
                  const NeighbourRule& rule, const lexical::AllowedRows& scope) {
  constexpr std::size_t kMost = 4096;
  if (scope.are_all()) {
    return false;
  }
  const ScopedSessions sessions(order, scope);
  std::size_t skipped = 0;
  for (const std::uint32_t row : rows) {
    skipped += sessions.skips(row, rule.reach, kMost - skipped);
    if (skipped >= kMost) {
      return true;
    }
  }
  return false;
}

// Seeds in rank order; for each, distances 1 to reach, the earlier row first. A row is added once,
// for the best seed that reaches it.
BroughtIn neighbours_of_best(const SessionOrder& order, std::span<const std::uint32_t> rows,
                             std::span<const double> scores, const NeighbourRule& rule,
                             const lexical::AllowedRows& scope,
                             const lexical::AllowedRows& allowed) {
  BroughtIn brought;
  const ScopedSessions sessions(order, scope);
  if (sessions.are_empty()) {
    return brought;
  }
  std::vector<std::uint32_t> best;
  best_first(scores, rule.seeds, best,
             [&](std::uint32_t a, std::uint32_t b) { return rows[a] < rows[b]; });
  const PlaceOfRow place_of(rows);
  const auto bring = [&](std::uint32_t row, std::uint32_t hit) {
    if (row != SessionOrder::kNobody && allowed.contains(row) && place_of(row) == rows.size() &&
        std::ranges::find(brought.rows, row) == brought.rows.end()) {
      brought.rows.push_back(row);
      brought.hits.push_back(hit);
    }
  };
  for (const std::uint32_t seed : best) {
    std::uint32_t before = rows[seed];
    std::uint32_t after = rows[seed];
    for (unsigned distance = 1; distance <= rule.reach; ++distance) {
      before = sessions.step(before, true);
      after = sessions.step(after, false);
      bring(before, rows[seed]);
      bring(after, rows[seed]);
    }
  }
  return brought;
}

namespace {

// What each candidate lends: its score, or the excess over what the rule compares with, clamped at
// 0.
std::vector<double> lent_by_each(const ScopedSessions& sessions,
                                 std::span<const std::uint32_t> rows,
                                 std::span<const double> scores, const NeighbourRule& rule) {
  std::vector<double> lent(rows.size());
  struct Sum {
    double total = 0;
    std::size_t count = 0;
  };
  std::unordered_map<std::uint32_t, Sum> by_session;
  if (rule.is_above_session) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!std::isnan(scores[i])) {
        Sum& sum = by_session[sessions.of(rows[i])];
        sum.total += scores[i];
        ++sum.count;
      }
    }
  }
  const double mean = rule.is_above_mean ? mean_of(scores) : 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::isnan(scores[i])) {
      continue;
    }
    double least = mean;
    if (rule.is_above_session) {
      const Sum& sum = by_session[sessions.of(rows[i])];
      least = std::max(least, sum.total / static_cast<double>(sum.count));
    }
    const bool is_excess = rule.is_above_mean || rule.is_above_session;
    lent[i] = is_excess ? std::max(scores[i] - least, 0.0) : scores[i];
  }
  return lent;
}

// Brings each relevance, with its share, nearer to the best among the candidates of its session.
// Rows without a session are alone.
void add_session_shares(const ScopedSessions& sessions, std::span<const std::uint32_t> rows,
                        std::span<const double> scores, double part, std::span<double> shares) {
  std::unordered_map<std::uint32_t, double> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!std::isnan(scores[i])) {
      const double reached = scores[i] + shares[i];
      double& most = best.try_emplace(sessions.of(rows[i]), reached).first->second;
      most = std::max(most, reached);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t session = sessions.of(rows[i]);
    if (session != 0 && !std::isnan(scores[i])) {
      shares[i] += part * (best[session] - (scores[i] + shares[i]));
    }
  }
}

}  // namespace

// The boost of each candidate, from what the others lend.
std::vector<double> neighbour_shares(const SessionOrder& order, std::span<const std::uint32_t> rows,
                                     std::span<const double> scores, const NeighbourRule& rule,
                                     const lexical::AllowedRows& scope,
                                     std::span<const double> lengths) {
  std::vector<double> shares(rows.size(), 0.0);
  const ScopedSessions sessions(order, scope);
  if (sessions.are_empty()) {
    return shares;
  }
  const PlaceOfRow place_of(rows);
  const std::vector<double> lent = lent_by_each(sessions, rows, scores, rule);
  const auto lent_by = [&](std::uint32_t row) {
    const std::size_t place = row == SessionOrder::kNobody ? rows.size() : place_of(row);
    return place == rows.size() ? 0.0 : lent[place];
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint32_t before = rows[i];
    std::uint32_t after = rows[i];
    shares[i] = spread_score(0.0, rule.share, rule.decay, rule.reach, [&] {
      before = sessions.step(before, true);
      after = sessions.step(after, false);
      return rule.is_from_better ? std::max(lent_by(before), lent_by(after))
                                 : lent_by(before) + lent_by(after);
    });
    if (rule.whole_length > 0 && lengths[i] > rule.whole_length) {
      shares[i] *= rule.whole_length / lengths[i];
    }
  }
  if (rule.session_share > 0) {
    add_session_shares(sessions, rows, scores, rule.session_share, shares);
  }
  return shares;
}

}  // namespace oneiros
