// The order of the stages of one search, and the retry around them.
//
// Algorithm: retrieve the hits of each channel, try the short cuts, build one candidate set, run
// the profile's program over it, then the stages that the plan names, each over the list that the
// previous one left. If the confidence is too low, run everything again with the relaxed plan and
// keep the better attempt (docs/systems/omega.md O28).
//
// Invariants: every list is ordered by `stands_before` unless a reranker or reserved places changed
// it. Candidates stand in the order of their first appearance, channel by channel: the
// floating-point sums of a fusion depend on that order, so it must not vary with threads. A stage
// that the plan does not name costs nothing.
//
// Cost: the channels dominate. The program is linear in the candidates; stages are linear in the
// results except duplicates, which compare each result with all kept ones.
#include "search/search_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace oneiros::search {

namespace {

lexical::AllowedRows rows_of(const SomeRows& bits) {
  return bits ? lexical::AllowedRows(*bits) : lexical::AllowedRows();
}

}  // namespace

const LinkedResult* Attempt::link_to(std::uint32_t row) const noexcept {
  const auto found = std::ranges::find_if(
      linked, [row](const LinkedResult& each) { return each.result.row == row; });
  return found == linked.end() ? nullptr : &*found;
}

SearchRun::SearchRun(std::shared_ptr<const SearchPlan> plan, ReadView view, SearchRequest request)
    : plan_(std::move(plan)), view_(std::move(view)), request_(std::move(request)) {
  const auto require_alike = [](const std::optional<RankedRows>& hits) {
    if (hits && hits->rows.size() != hits->scores.size()) {
      throw std::invalid_argument("hits: expected " + std::to_string(hits->rows.size()) +
                                  " scores, one a row, got " + std::to_string(hits->scores.size()));
    }
  };
  require_alike(request_.hits);
  for (const Variant& variant : request_.variants) {
    require_alike(variant.hits);
  }
}

// The filter of channels: the request's, narrowed by the query's operators.
lexical::AllowedRows SearchRun::allowed() const {
  return permitted_ ? lexical::AllowedRows(*permitted_) : rows_of(request_.allowed);
}

lexical::AllowedRows SearchRun::reach() const {
  return permitted_reach_ ? lexical::AllowedRows(*permitted_reach_) : rows_of(request_.reach);
}

lexical::AllowedRows SearchRun::rows_in_scope() const { return rows_of(request_.scope); }

QueryWeighing SearchRun::weighing(const ChannelPlan& channel) const {
  return {.rows = request_.is_weighed_by_store ? lexical::AllowedRows() : rows_in_scope(),
          .given = nullptr,
          .shares = channel.shares};
}

const NamedTime* SearchRun::time_of(const Attempt& attempt) const noexcept {
  return request_.time && !attempt.is_relaxed ? &*request_.time : nullptr;
}

// A request may override the thresholds of a plan that has a surfacing rule.
const Surfacing* SearchRun::surfacing_of(const Attempt& attempt) const noexcept {
  const auto* const own = std::get_if<Surfacing>(&attempt.plan->abstention);
  if (own == nullptr) {
    return nullptr;
  }
  const std::optional<Surfacing>& given =
      attempt.is_relaxed ? request_.relaxed_surfacing : request_.surfacing;
  return given ? &*given : own;
}

// Runs one attempt, or two if the plan retries and confidence is low; the better one is kept.
SearchOutcome SearchRun::run(Outside& outside) {
  trace_.end("validity_filter", request_.bounds_count, request_.allowed_count);
  if (request_.syntax != lexical::QuerySyntax::kPlain) {
    const QueryReading reading{.syntax = request_.syntax};
    const QueryStatistics* const given = request_.statistics ? &*request_.statistics : nullptr;
    const auto permitted = [&](const SomeRows& rows) {
      return view_.lexical->permitted(request_.query, reading, rows_of(rows), given);
    };
    permitted_ = permitted(request_.allowed);
    permitted_reach_ = permitted(request_.reach);
  }
  attempt_ = take(plan_, false, outside);
  reasons_[0] = attempt_.reason;
  if (plan_->retry && request_.k > 0) {
    const Retry& rule = *plan_->retry;
    const double before = confidence_of(attempt_, rule);
    attempt_.confidence = before;
    const std::size_t count = attempt_.results.size();
    if (before >= rule.least_confidence) {
      trace_.end("adaptive_retry", count, count, Note::retry_not_needed, before);
    } else {
      trace_.begin_retry();
      Attempt second = take(attempt_.plan->relaxed, true, outside);
      trace_.end_retry();
      reasons_[1] = second.reason;
      const double after = confidence_of(second, rule);
      second.confidence = after;
      const bool is_better = after > before;
      const std::size_t kept = is_better ? second.results.size() : count;
      trace_.end("adaptive_retry", count, kept, is_better ? Note::retry_kept : Note::retry_not_kept,
                 before, after);
      if (is_better) {
        attempt_ = std::move(second);
      }
    }
  }
  if (plan_->confidence && !attempt_.results.empty()) {
    attempt_.leads = leads_of(attempt_, attempt_.results.front().row);
    attempt_.confidence = confidence(*plan_->confidence, attempt_.leads);
  }
  if (plan_->is_normalised) {
    double best = 0;
    for (const Result& result : attempt_.results) {
      best = std::max(best, result.score);
    }
    if (best > 0 && std::isfinite(best)) {
      attempt_.best = best;
      for (Result& result : attempt_.results) {
        attempt_.raw_scores.push_back(result.score);
        result.score /= best;
      }
    }
  }
  return taken();
}

// Moves the outcome out of the attempt. What `place_of`, `score_of` and `alone` read stays.
SearchOutcome SearchRun::taken() {
  Attempt& own = attempt_;
  if (own.direct) {
    std::unordered_set<std::uint32_t> left;
    for (const auto& [row, better] : own.duplicates) {
      left.insert(row);
    }
    std::erase_if(*own.direct,
                  [&](std::uint32_t row) { return left.contains(row) || own.far.contains(row); });
  }
  return {.results = std::move(own.results),
          .hits = std::move(own.hits),
          .raw_scores = std::move(own.raw_scores),
          .best = own.best,
          .misses = std::move(own.misses),
          .linked = std::move(own.linked),
          .bridges = std::move(own.bridges),
          .brought = std::move(own.brought),
          .duplicates = std::move(own.duplicates),
          .conflicts = std::move(own.conflicts),
          .direct = std::move(own.direct),
          .reasons = reasons_,
          .confidence = own.confidence,
          .leads = own.leads,
          .stages = trace_.take(),
          .short_cut = own.short_cut,
          .is_relaxed = own.is_relaxed,
          .future_count = own.ranked.future_count};
}

// Depth: the program's top-k needs only as many rows as the following stages look at.
Attempt SearchRun::take(std::shared_ptr<const SearchPlan> plan, bool is_relaxed, Outside& outside) {
  Attempt attempt;
  attempt.asked = attempt.plan = std::move(plan);
  attempt.is_relaxed = is_relaxed;
  ask(attempt);
  attempt.hits = decide(attempt, outside);
  gather(attempt, attempt.hits, outside);
  const SearchPlan& own = *attempt.plan;
  const std::size_t k = request_.k;
  std::size_t depth = k;
  if (request_.is_whole || (own.is_deep() && k > 0)) {
    depth = attempt.candidates->size();
  } else if (k > 0) {
    if (request_.follows_links && own.has_expansion()) {
      depth = std::max(depth, own.followed(k));
    }
    if (own.newer_first) {
      depth = std::max(depth, own.newer_first->depth);
    }
    if (request_.has_reranker && own.rerank) {
      depth = std::max(depth, own.rerank->top);
    }
  }
  Signals signals;
  for (const auto& [name, values] : attempt.signals) {
    signals.emplace(name, values);
  }
  attempt.ranked = own.scoring.plan->rank(rank_request(*attempt.candidates, signals), depth,
                                          request_.is_explained);
  const Ranked& ranked = attempt.ranked;
  attempt.results.reserve(ranked.rows.size());
  for (std::size_t i = 0; i < ranked.rows.size(); ++i) {
    attempt.results.push_back(
        {ranked.rows[i], ranked.relevance[i], ranked.retention[i], ranked.scores[i]});
  }
  StageRecord& stage = trace_.end("scoring", ranked.candidate_count, ranked.rows.size());
  if (ranked.candidate_count != ranked.kept_count) {
    stage.note = Note::left_by_rules;
    stage.first = static_cast<double>(ranked.candidate_count - ranked.kept_count);
  }
  finish(attempt, outside);
  return attempt;
}

// Uses the signals of the run, so that an explanation agrees with the search.
std::optional<Placed> SearchRun::place_of(std::uint32_t row, const Plan& plan) const {
  Signals signals;
  for (const auto& [name, values] : attempt_.signals) {
    signals.emplace(name, values);
  }
  return plan.place_of(rank_request(*attempt_.candidates, signals), row);
}

double SearchRun::score_of(std::size_t channel, std::uint32_t row) const {
  if (!attempt_.answers.at(channel).can_score) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return score_rows(attempt_, channel, std::span(&row, 1)).front();
}

// A candidate set of one row without ranks or scores.
std::optional<Placed> SearchRun::alone(std::uint32_t row, Outside& outside) const {
  const std::vector<double> none{std::numeric_limits<double>::quiet_NaN()};
  std::vector<ChannelHits> hits(attempt_.plan->channels.size());
  hits.front() = {std::span(&row, 1), std::span<const double>(none)};
  const Candidates only(hits);
  SignalMap by_name = signals_for(attempt_, only.rows(), outside);
  Signals signals;
  for (const auto& [name, values] : by_name) {
    signals.emplace(name, values);
  }
  return attempt_.plan->scoring.plan->place_of(rank_request(only, signals), row);
}

}  // namespace oneiros::search
