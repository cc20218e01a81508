#include "ranking/plan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ranking/fusion.h"
#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

// What one run needs and the next can use again: a thread keeps it.
struct Workspace {
  Fusion<std::uint32_t> fusion;
  std::vector<double> scores;
  std::vector<double> retention;
  std::vector<double> factors;  // steps x candidates
  std::vector<double> ages;
  std::vector<std::uint8_t> is_future;
  std::vector<std::uint32_t> order;

  void trim() {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    fusion.trim();
    if (factors.capacity() > kKept || scores.capacity() > kKept) {
      *this = Workspace();
    }
  }
};

void require_rows(std::span<const std::uint32_t> rows, std::size_t size) {
  for (const std::uint32_t row : rows) {
    if (row >= size) {
      throw std::invalid_argument("rows: " + std::to_string(row) + " is not one of the " +
                                  std::to_string(size) + " rows");
    }
  }
}

void require_now(double now_seconds) {
  require(std::isfinite(now_seconds), "now_seconds", "must be finite", now_seconds);
}

void run_steps(const std::vector<Step>& steps, Candidates& candidates, std::span<double> factors) {
  const std::size_t size = candidates.rows.size();
  candidates.is_future.assign(size, 0);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    evaluate(steps[step], candidates, factors.subspan(step * size, size));
  }
}

// Multiplies each row of `factors` in turn into scores and retention.
void combine(std::span<const double> factors, std::vector<double>& scores,
             std::vector<double>& retention) {
  const std::size_t size = scores.size();
  for (std::size_t begin = 0; begin < factors.size(); begin += size) {
    for (std::size_t i = 0; i < size; ++i) {
      scores[i] *= factors[begin + i];
      retention[i] *= factors[begin + i];
    }
  }
}

template <typename T>
void pick(std::span<const T> from, std::span<const std::uint32_t> order, std::vector<T>& into) {
  for (const std::uint32_t index : order) {
    into.push_back(from[index]);
  }
}

Ranked collect(const Workspace& work, std::size_t steps, const RankRequest& request) {
  Ranked ranked;
  const std::size_t size = work.fusion.size();
  ranked.candidate_count = size;
  ranked.future_count = static_cast<std::size_t>(
      std::count(work.is_future.begin(), work.is_future.end(), std::uint8_t{1}));
  pick(work.fusion.ids(), work.order, ranked.rows);
  pick<double>(work.scores, work.order, ranked.scores);
  pick(work.fusion.scores(), work.order, ranked.relevance);
  pick<double>(work.retention, work.order, ranked.retention);
  if (request.is_explained) {
    for (std::size_t channel = 0; channel < request.rankings.size(); ++channel) {
      std::vector<std::uint32_t> ranks(size);
      work.fusion.ranks(channel, ranks);
      pick<std::uint32_t>(ranks, work.order, ranked.ranks);
    }
    for (std::size_t step = 0; step < steps; ++step) {
      pick(std::span(work.factors).subspan(step * size, size), work.order, ranked.factors);
    }
  }
  return ranked;
}

}  // namespace

Plan::Plan(double rrf_k, std::vector<double> weights,
           const std::vector<std::pair<std::string, Parameters>>& steps)
    : rrf_k_(rrf_k), weights_(std::move(weights)) {
  require_valid(FusionRule{rrf_k_, weights_});
  if (steps.size() > kMostSteps) {
    throw std::invalid_argument("steps: at most " + std::to_string(kMostSteps) + ", got " +
                                std::to_string(steps.size()));
  }
  for (const auto& [name, parameters] : steps) {
    steps_.push_back(step_named(name, parameters));
  }
}

Ranked Plan::rank(const Columns& columns, const RankRequest& request) const {
  require_now(request.now_seconds);
  thread_local Workspace work;
  work.fusion.fuse(request.rankings, FusionRule{rrf_k_, weights_});
  const std::size_t size = work.fusion.size();
  const std::span<const std::uint32_t> rows = work.fusion.ids();
  work.scores.assign(work.fusion.scores().begin(), work.fusion.scores().end());
  work.retention.assign(size, 1.0);
  work.factors.resize(steps_.size() * size);
  {
    const Columns::Reader reader(columns);
    require_rows(rows, reader.size());
    Candidates candidates{reader, rows, request.now_seconds, work.ages, work.is_future};
    run_steps(steps_, candidates, work.factors);
  }
  combine(work.factors, work.scores, work.retention);
  best_first(work.scores, request.k, work.order,
             [&](std::uint32_t a, std::uint32_t b) { return rows[a] < rows[b]; });
  Ranked ranked = collect(work, steps_.size(), request);
  work.trim();
  return ranked;
}

void Plan::factors(const Columns& columns, std::span<const std::uint32_t> rows, double now_seconds,
                   std::span<double> factors) const {
  assert(factors.size() == steps_.size() * rows.size());
  require_now(now_seconds);
  std::vector<double> ages;
  std::vector<std::uint8_t> is_future;
  const Columns::Reader reader(columns);
  require_rows(rows, reader.size());
  Candidates candidates{reader, rows, now_seconds, ages, is_future};
  run_steps(steps_, candidates, factors);
}

}  // namespace oneiros
