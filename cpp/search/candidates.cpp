// The candidate set of one search: the union of the channels' hits, neighbours of the best hits in
// their sessions and hot memories, each with the scores and signals that the profile's program
// reads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>

#include "columns/cosine_baseline.h"
#include "columns/most_accessed.h"
#include "columns/session_order.h"
#include "lexical/filters/set_bits.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

constexpr std::size_t kCentreOf = 10;  // the best candidates. Source: docs/systems/omega.md O21

// The list of each channel that is fused when the query has variants: reciprocal ranks, optionally
// divided by the channel's best and by the best weighted sum. Source: docs/systems/omega.md O6, O7.
std::vector<RankedRows> shares_of(const std::vector<ChannelAnswer>& answers,
                                  const VariantRule& rule) {
  std::vector<RankedRows> lists;
  for (const ChannelAnswer& answer : answers) {
    lists.push_back(answer.ranks.value_or(RankedRows()));
  }
  if (!rule.is_normalised) {
    return lists;
  }
  std::unordered_map<std::uint32_t, double> sums;
  double best = 0;
  for (std::size_t channel = 0; channel < lists.size(); ++channel) {
    RankedRows& list = lists[channel];
    const double first = list.empty() ? 1.0 : list.scores.front();
    for (std::size_t i = 0; i < list.size(); ++i) {
      list.scores[i] /= first;
      double& sum = sums.try_emplace(list.rows[i], 0.0).first->second;
      sum += rule.weights[channel] * list.scores[i];
    }
  }
  for (const auto& [row, sum] : sums) {
    best = std::max(best, sum);
  }
  if (best == 0.0) {
    return lists;
  }
  for (RankedRows& list : lists) {
    for (double& score : list.scores) {
      score /= best;
    }
  }
  return lists;
}

}  // namespace

RankRequest SearchRun::rank_request(const Candidates& candidates, const Signals& signals) const {
  return {*view_.columns, candidates, request_.now_seconds, signals};
}

// With variants, reciprocal ranks are fused in place of scores. Raw scores are filled in before
// neighbours and signals are computed, as both depend on the fused relevance. hot_seed is minus
// infinity for rows outside the hot set.
void SearchRun::gather(Attempt& attempt, const std::vector<RankedRows>& hits, Outside& outside) {
  const SearchPlan& plan = *attempt.plan;
  const std::vector<RankedRows> shares = request_.variant_rule
                                             ? shares_of(attempt.answers, *request_.variant_rule)
                                             : std::vector<RankedRows>();
  const std::vector<RankedRows>& lists = request_.variant_rule ? shares : hits;
  std::vector<ChannelHits> given;
  std::size_t hit_count = 0;
  for (std::size_t channel = 0; channel < lists.size(); ++channel) {
    given.push_back({lists[channel].rows, std::span<const double>(lists[channel].scores)});
    hit_count += hits[channel].size();
  }
  Candidates& candidates = attempt.candidates.emplace(given);
  std::unordered_map<std::uint32_t, double> seeds;
  if (plan.hot_set) {
    seeds = seed_hot_set(attempt);
  }
  const std::size_t filled = fill(attempt, plan.scoring, candidates, false);
  StageRecord& stage = trace_.end("fusion", hit_count, candidates.size());
  if (filled > 0) {
    stage.note = Note::filled;
    stage.first = static_cast<double>(filled);
  }
  if (plan.needs.baseline && !request_.variant_rule) {
    find_baseline(attempt);
  }
  if (request_.is_of_spelling && plan.spelling < 1.0 && !request_.variant_rule) {
    find_vector_share(attempt);
  }
  // In a scope the stage is always recorded: its absence would reveal that others use sessions.
  if (plan.neighbours &&
      (request_.has_bounds || !SessionOrder::Reader(*view_.sessions).is_empty())) {
    bring_neighbours(attempt);
  }
  attempt.signals = signals_for(attempt, candidates.rows(), outside);
  if (!seeds.empty()) {
    double best = 0;
    for (const auto& [row, value] : seeds) {
      best = std::max(best, value);
    }
    std::vector<double> own;
    own.reserve(candidates.size());
    for (const std::uint32_t row : candidates.rows()) {
      const auto found = seeds.find(row);
      own.push_back(found == seeds.end() ? -std::numeric_limits<double>::infinity()
                                         : found->second);
    }
    attempt.signals["hot_seed"] = std::move(own);
    attempt.signals["hot_best"] = {best};
  }
  if (plan.needs.cluster && view_.vectors != nullptr && candidates.size() > 0) {
    find_centre(attempt);
    if (!attempt.centre.empty()) {
      attempt.signals["cluster_cosine"] = centre_cosines(attempt, candidates.rows());
    }
  }
}

// Before neighbours in sessions come in, which are found by the relevance. Source:
// docs/systems/house.md H3.
void SearchRun::find_baseline(Attempt& attempt) {
  Candidates& candidates = *attempt.candidates;
  const std::optional<std::size_t> vector = attempt.plan->place_of(ChannelKind::vector);
  if (!vector || !candidates.is_present(*vector)) {
    return;
  }
  attempt.baseline = cosine_baseline(candidates.scores(*vector));
  candidates.set_cosine_baseline(attempt.baseline);
  if (attempt.baseline > 0.0) {
    trace_.end("cosine_baseline", candidates.size(), candidates.size(), Note::baseline,
               attempt.baseline);
  }
}

// Vectors of spelling say something new of words that no text holds, and little of others. Source:
// docs/systems/house.md H3.
void SearchRun::find_vector_share(Attempt& attempt) {
  const std::optional<std::size_t> words = attempt.plan->place_of(ChannelKind::lexical);
  const std::optional<std::size_t> vector = attempt.plan->place_of(ChannelKind::vector);
  if (!words || !vector || !attempt.candidates->is_present(*vector)) {
    return;
  }
  const double missing = lexical::missing_share(attempt.answers[*words].query);
  const double least = attempt.plan->spelling;
  attempt.vector_share = least + (1.0 - least) * missing * missing;
  attempt.candidates->set_vector_share(attempt.vector_share);
  const std::size_t count = attempt.candidates->size();
  trace_.end("spelling", count, count, Note::spelling, attempt.vector_share);
}

// Returns the seed score of each hot memory by row, and appends those that no channel found to the
// candidates. Source: docs/systems/omega.md O1.
std::unordered_map<std::uint32_t, double> SearchRun::seed_hot_set(Attempt& attempt) {
  const HotSet& rule = *attempt.plan->hot_set;
  const std::vector<std::uint32_t> rows = hottest(rule.size);
  std::unordered_map<std::uint32_t, double> seeds;
  if (rows.empty()) {
    trace_.end("hot_set", 0, 0, Note::never_recalled);
    return seeds;
  }
  const std::vector<double> shares = overlaps(rows);
  Candidates& candidates = *attempt.candidates;
  const std::unordered_set<std::uint32_t> found(candidates.rows().begin(), candidates.rows().end());
  std::vector<std::uint32_t> added;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (shares[i] >= rule.least_overlap && shares[i] > 0.0) {
      seeds.emplace(rows[i], rule.weight * shares[i]);
      if (!found.contains(rows[i])) {
        added.push_back(rows[i]);
      }
    }
  }
  candidates.append(added);
  trace_.end("hot_set", rows.size(), seeds.size());
  return seeds;
}

// The most accessed rows. Without a filter, the columns still hold deleted rows, so the search is
// repeated with a larger count until enough living ones are found.
std::vector<std::uint32_t> SearchRun::hottest(std::size_t count) const {
  const lexical::AllowedRows may = allowed();
  if (!may.are_all()) {
    const std::span<const std::uint8_t> bits = may.bits();
    return most_accessed(*view_.columns, count, &bits);
  }
  for (std::size_t wanted = count;; wanted *= 4) {
    std::vector<std::uint32_t> rows = most_accessed(*view_.columns, wanted, nullptr);
    const std::size_t seen = rows.size();
    {
      const Columns::Reader reader(*view_.columns);
      const auto deleted = reader.values<Column::deleted_at>();
      std::erase_if(rows, [&](std::uint32_t row) { return !std::isnan(deleted[row]); });
    }
    if (rows.size() >= count || seen < wanted) {
      rows.resize(std::min(rows.size(), count));
      return rows;
    }
  }
}

// Computes raw scores for candidates that a channel did not return, and the score that the query's
// words allow, if the program reads them.
// Returns how many. After a short cut only the lexical channel fills scores, unless `by_all` is
// set.
std::size_t SearchRun::fill(const Attempt& attempt, const Scoring& scoring, Candidates& candidates,
                            bool by_all) const {
  std::size_t filled = 0;
  if (!scoring.fills_scores) {
    return filled;
  }
  for (std::size_t channel = 0; channel < attempt.answers.size(); ++channel) {
    const bool has_a_say = by_all || attempt.short_cut == ShortCut::none ||
                           attempt.plan->channels[channel].kind == ChannelKind::lexical;
    if (!attempt.answers[channel].can_score || !has_a_say) {
      continue;
    }
    if (attempt.plan->channels[channel].kind == ChannelKind::lexical) {
      candidates.set_possible(channel,
                              view_.lexical->possible_score(attempt.answers[channel].query));
      // With variants, ranks are fused, and pairs play no part.
      if (attempt.plan->pair_window > 0 && !request_.variant_rule) {
        filled += fill_with_pairs(attempt, channel, candidates);
        continue;
      }
    }
    const std::vector<std::uint32_t> rows = candidates.missing(channel);
    if (!rows.empty()) {
      candidates.fill(channel, score_rows(attempt, channel, rows));
      filled += rows.size();
    }
  }
  return filled;
}

// Rows with a score of pairs have one of words: both were filled together.
std::size_t SearchRun::fill_with_pairs(const Attempt& attempt, std::size_t channel,
                                       Candidates& candidates) const {
  const ChannelAnswer& answer = attempt.answers[channel];
  const std::vector<std::uint32_t> missing = candidates.missing(channel);
  const std::size_t known = candidates.pair_scores().size();
  const std::span<const std::uint32_t> rows = candidates.rows().subspan(known);
  std::vector<double> pair_scores(rows.size());
  std::vector<double> filled;
  if (answer.pairs.pairs.empty()) {
    filled = score_rows(attempt, channel, missing);
  } else {
    const std::span<const double> before = candidates.scores(channel).subspan(known);
    std::vector<double> scores(before.begin(), before.end());
    view_.lexical->score_with_pairs(answer.query, answer.pairs, attempt.plan->pair_window, rows,
                                    scores, pair_scores);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (std::isnan(before[i])) {
        filled.push_back(scores[i]);
      }
    }
    put_on_scale(attempt, channel, missing, filled);
  }
  if (!missing.empty()) {
    candidates.fill(channel, filled);
  }
  candidates.add_pairs(pair_scores, answer.pairs.possible);
  return missing.size();
}

// Adds the neighbours of the best fused candidates, then computes boosts over the enlarged set.
void SearchRun::bring_neighbours(Attempt& attempt) {
  const SearchPlan& plan = *attempt.plan;
  const NeighbourRule& rule = *plan.neighbours;
  Candidates& candidates = *attempt.candidates;
  const std::size_t before = candidates.size();
  const SomeRows& standing = request_.standing ? request_.standing : request_.scope;
  const lexical::AllowedRows scope =
      standing ? lexical::AllowedRows(*standing) : lexical::AllowedRows();
  const SessionOrder* order = view_.sessions.get();
  std::optional<SessionOrder> own;
  if (is_long_walk(*order, candidates.rows(), rule, scope)) {
    own.emplace().place(*view_.columns,
                        lexical::list_bits(*standing, lexical::count_bits(*standing)));
    order = &*own;
  }
  const BroughtIn brought = neighbours_of_best(
      *order, candidates.rows(), plan.scoring.plan->fused(candidates), rule, scope, allowed());
  if (!brought.rows.empty()) {
    candidates.append(brought.rows);
    for (std::size_t i = 0; i < brought.rows.size(); ++i) {
      attempt.brought.emplace_back(brought.rows[i], brought.hits[i]);
    }
    fill(attempt, plan.scoring, candidates, false);
  }
  std::vector<double> lengths(rule.whole_length > 0 ? candidates.size() : 0);
  if (!lengths.empty()) {
    view_.lexical->lengths_of(candidates.rows(), lengths);
  }
  candidates.lend(neighbour_shares(*order, candidates.rows(), plan.scoring.plan->fused(candidates),
                                   rule, scope, lengths));
  trace_.end("session_neighbours", before, candidates.size());
}

// Stores the normalised mean vector of the candidates that rank best by the factors before
// "cluster". Source: docs/systems/omega.md O21.
void SearchRun::find_centre(Attempt& attempt) const {
  Signals signals;
  for (const auto& [name, values] : attempt.signals) {
    signals.emplace(name, values);
  }
  const Ranked best = attempt.plan->before_cluster->plan->rank(
      rank_request(*attempt.candidates, signals), kCentreOf, false);
  const std::size_t width = view_.vectors->dimension();
  std::vector<float> vectors(best.rows.size() * width);
  view_.vectors->reconstruct(best.rows, vectors);
  std::vector<double> mean(width);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    mean[i % width] += static_cast<double>(vectors[i]);
  }
  double squares = 0;
  for (const double value : mean) {
    squares += value * value;
  }
  const double length = std::sqrt(squares);
  if (length == 0.0) {
    return;
  }
  attempt.centre.reserve(width);
  for (const double value : mean) {
    attempt.centre.push_back(static_cast<float>(value / length));
  }
}

// The cosine of each row to the centre; 0 for rows without a vector.
std::vector<double> SearchRun::centre_cosines(const Attempt& attempt,
                                              std::span<const std::uint32_t> rows) const {
  std::vector<double> cosines(rows.size());
  view_.vectors->cosines(attempt.centre, rows, cosines);
  for (double& cosine : cosines) {
    cosine = std::isnan(cosine) ? 0.0 : cosine;
  }
  return cosines;
}

}  // namespace oneiros::search
