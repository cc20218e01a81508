// Link expansion: memories linked to the best results are reached, scored and merged with them.
//
// Algorithm: a bounded best-first walk over the association graph from the direct results
// (cpp/association/expansion.cpp). AssociativeExpansion ranks the reached rows by the profile's
// program times the weight of the path; GraphExpansion gives them a share of the seed's score. Both
// lists are merged into the results, each row once with its better score.
//
// Invariants: link weights are decayed to `now` when read. Rows added after the graph was last
// grown have no links. Only rows in `reach()` are entered. Direct results keep their relative
// order. Source: docs/systems/cognitive.md C9, C10, C14; docs/systems/omega.md O23, O24.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "association/link_decay.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

constexpr double kTauDays =
    90.0;  // decay of a link's weight. Source: docs/systems/cognitive.md C16
// GraphExpansion reaches at least this many rows beyond the results.
constexpr std::size_t kGraphDepth = 100;

std::vector<std::uint32_t> path_to(const Reached& reached) {
  std::vector<std::uint32_t> path(reached.path.begin(), reached.path.begin() + reached.path_size);
  path.push_back(reached.row);
  return path;
}

// The graph grows lazily: rows beyond its end were added later and have no links yet.
bool is_known(const AssociationGraph& graph, std::uint32_t row) { return row < graph.row_count(); }

}  // namespace

std::vector<Result> merged(std::span<const Result> held, std::vector<Result> brought) {
  std::ranges::sort(brought, stands_before);
  std::vector<Result> both;
  both.reserve(held.size() + brought.size());
  auto next = brought.begin();
  for (const Result& result : held) {
    while (next != brought.end() && stands_before(*next, result)) {
      both.push_back(*next++);
    }
    both.push_back(result);
  }
  both.insert(both.end(), next, brought.end());
  return both;
}

void SearchRun::follow_links(Attempt& attempt, Outside& outside) {
  const SearchPlan& plan = *attempt.plan;
  const std::size_t k = request_.k;
  std::vector<Result>& results = attempt.results;
  if (!request_.follows_links || results.empty()) {
    return;
  }
  const std::size_t direct_count = std::min(k, results.size());
  std::vector<std::uint32_t>& direct = attempt.direct.emplace();
  for (std::size_t i = 0; i < direct_count; ++i) {
    direct.push_back(results[i].row);
  }
  const std::span<const Result> followed =
      std::span(results).first(std::min(plan.followed(k), results.size()));
  std::vector<LinkedResult> linked;
  std::size_t bridging = 0;
  if (const auto* const rule = std::get_if<AssociativeExpansion>(&plan.expansion)) {
    linked = associated(attempt, *rule, followed, outside);
    find_bridges(attempt, *rule);
    const auto near = std::ranges::count_if(
        linked, [](const LinkedResult& each) { return each.path.size() == 2; });
    trace_.end("associative_expansion", direct_count, static_cast<std::size_t>(near));
  } else {
    linked = in_graph(attempt, std::get<GraphExpansion>(plan.expansion), followed, outside);
  }
  // Results beyond `count` are not merged: they would have been cut without link expansion.
  const std::size_t count =
      plan.is_deep() ? results.size() : std::min(std::max(k, followed.size()), results.size());
  join(attempt, std::move(linked), count);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < std::min(k, results.size()); ++i) {
    const std::uint32_t row = results[i].row;
    shown += attempt.link_to(row) != nullptr ? 1 : 0;
    bridging += std::ranges::find(attempt.bridges, row, &Reached::row) != attempt.bridges.end();
  }
  StageRecord& stage = trace_.end("graph_expansion", direct_count, shown);
  if (bridging > 0) {
    stage.note = Note::on_bridges;
    stage.first = static_cast<double>(bridging);
  }
}

// Merges linked rows with the first `count` results: each row once, with its better score.
void SearchRun::join(Attempt& attempt, std::vector<LinkedResult> linked, std::size_t count) {
  std::vector<Result>& results = attempt.results;
  const std::span<const Result> held = std::span(results).first(count);
  std::unordered_map<std::uint32_t, double> own;
  for (const Result& result : held) {
    own.emplace(result.row, result.score);
  }
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (LinkedResult& each : linked) {
    const std::uint32_t row = each.result.row;
    if (const auto known = places.find(row); known != places.end()) {
      if (each.result.score > attempt.linked[known->second].result.score) {
        attempt.linked[known->second] = std::move(each);
      }
      continue;
    }
    const auto before = own.find(row);
    if (before == own.end() || each.result.score > before->second) {
      places.emplace(row, attempt.linked.size());
      attempt.linked.push_back(std::move(each));
    }
  }
  if (attempt.linked.empty()) {
    return;
  }
  const auto is_direct = [&](const Result& result) { return !places.contains(result.row); };
  std::vector<Result> direct;
  std::ranges::copy_if(held, std::back_inserter(direct), is_direct);
  std::vector<Result> brought;
  for (const LinkedResult& each : attempt.linked) {
    brought.push_back(each.result);
  }
  std::vector<Result> all = merged(direct, std::move(brought));
  std::ranges::copy_if(std::span(results).subspan(count), std::back_inserter(all), is_direct);
  results = std::move(all);
}

// Ranks the reached rows by the profile's program with the signal "path_weight". A row more than
// one hop away needs `rule.least_score`.
std::vector<LinkedResult> SearchRun::associated(Attempt& attempt, const AssociativeExpansion& rule,
                                                std::span<const Result> followed,
                                                Outside& outside) {
  std::vector<std::uint32_t> rows;
  for (const Result& result : followed) {
    if (is_known(*view_.graph, result.row)) {
      rows.push_back(result.row);
    }
  }
  const ExpansionRule walk{
      {request_.now_seconds, kTauDays}, rule.least_link, rule.least_path, 1.0, rule.hops};
  const std::vector<Reached> reached = view_.graph->expand({rows, {}}, walk, reach(), rule.depth);
  std::vector<LinkedResult> linked;
  if (reached.empty()) {
    return linked;
  }
  attempt.linked_ranked =
      rank_linked(attempt, rule.scoring, reached, attempt.plan->needs.cluster, outside);
  const Ranked& ranked = attempt.linked_ranked;
  std::unordered_map<std::uint32_t, const Reached*> ways;
  for (const Reached& each : reached) {
    ways.emplace(each.row, &each);
  }
  std::size_t most = std::max(request_.k, attempt.results.size());
  if (request_.has_reranker && attempt.plan->rerank) {
    most = std::max(most, attempt.plan->rerank->top);
  }
  for (std::size_t i = 0; i < ranked.rows.size() && linked.size() < most; ++i) {
    const auto way = ways.find(ranked.rows[i]);
    if (way == ways.end() || (way->second->path_size > 1 && ranked.scores[i] < rule.least_score)) {
      continue;
    }
    linked.push_back({{ranked.rows[i], ranked.relevance[i], ranked.retention[i], ranked.scores[i]},
                      path_to(*way->second),
                      way->second->value,
                      i,
                      0});
  }
  return linked;
}

// Gives each reached row the decayed share of its seed's score that the walk computed. Negative and
// infinite scores have no shares: their links are not followed.
std::vector<LinkedResult> SearchRun::in_graph(Attempt& attempt, const GraphExpansion& rule,
                                              std::span<const Result> followed, Outside& outside) {
  std::unordered_map<std::uint32_t, double> seeds;
  std::vector<std::uint32_t> rows;
  std::vector<double> values;
  for (const Result& result : followed) {
    const double value = result.score * rule.weight;
    if (result.score >= 0 && std::isfinite(value) && is_known(*view_.graph, result.row)) {
      seeds.emplace(result.row, result.score);
      rows.push_back(result.row);
      values.push_back(value);
    }
  }
  const ExpansionRule walk{
      {request_.now_seconds, kTauDays}, rule.least_link, rule.least_score, rule.per_hop, rule.hops};
  // Independent of a small k: the reranker and the duplicates stage look at more results.
  const std::size_t top = std::max(request_.k, kGraphDepth) + attempt.results.size();
  const std::vector<Reached> reached = view_.graph->expand({rows, values}, walk, reach(), top);
  std::vector<LinkedResult> linked;
  if (reached.empty()) {
    return linked;
  }
  const Ranked ranked = rank_linked(attempt, rule.lifecycle, reached, false, outside);
  std::unordered_map<std::uint32_t, double> retentions;
  for (std::size_t i = 0; i < ranked.rows.size(); ++i) {
    retentions.emplace(ranked.rows[i], ranked.retention[i]);
  }
  for (const Reached& each : reached) {
    const auto retention = retentions.find(each.row);
    if (retention == retentions.end()) {
      continue;  // the profile's rules leave it out
    }
    const double seed = seeds.at(each.path.front());
    linked.push_back({{each.row, seed, retention->second, each.value},
                      path_to(each),
                      seed != 0.0 ? each.value / seed : 0.0,
                      0,
                      seed});
  }
  return linked;
}

// Ranks reached rows as candidates that no channel found, with raw scores if the program reads
// them. The best lexical hit is added so that raw BM25 scores are normalised as in the main
// ranking. It has no path weight (NaN), by which programs that read path weights drop it again.
Ranked SearchRun::rank_linked(const Attempt& attempt, const Scoring& scoring,
                              std::span<const Reached> reached, bool reads_centre,
                              Outside& outside) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(reached.size() + 1);
  for (const Reached& each : reached) {
    rows.push_back(each.row);
  }
  std::optional<std::size_t> first;
  if (scoring.fills_scores) {
    for (std::size_t channel = 0; channel < attempt.answers.size(); ++channel) {
      if (attempt.answers[channel].can_score) {
        first = first.value_or(channel);
      }
    }
  }
  for (std::size_t channel = 0; first && channel < attempt.answers.size(); ++channel) {
    const RankedRows& hits = attempt.answers[channel].hits;
    if (attempt.plan->channels[channel].kind == ChannelKind::lexical && !hits.empty()) {
      rows.push_back(hits.rows.front());
    }
  }
  const std::vector<double> none(rows.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<ChannelHits> hits(attempt.answers.size());
  for (ChannelHits& each : hits) {
    each.scores = std::span<const double>();
  }
  hits[first.value_or(0)] = {rows, std::span<const double>(none)};
  Candidates candidates(hits);
  candidates.set_cosine_baseline(attempt.baseline);
  candidates.set_vector_share(attempt.vector_share);
  fill(attempt, scoring, candidates, true);
  SignalMap by_name = signals_for(attempt, candidates.rows(), outside);
  if (reads_centre && !attempt.centre.empty()) {
    by_name["cluster_cosine"] = centre_cosines(attempt, candidates.rows());
  }
  std::vector<double>& weights = by_name["path_weight"];
  for (const Reached& each : reached) {
    weights.push_back(each.value);
  }
  weights.resize(candidates.size(), std::numeric_limits<double>::quiet_NaN());
  Signals signals;
  for (const auto& [name, values] : by_name) {
    signals.emplace(name, values);
  }
  return scoring.plan->rank(rank_request(candidates, signals), candidates.size(),
                            request_.is_explained);
}

// Finds rows linked to two of the first results that are not linked with each other.
void SearchRun::find_bridges(Attempt& attempt, const AssociativeExpansion& rule) const {
  std::vector<std::uint32_t> ends;
  const std::size_t count = std::min(rule.bridged, attempt.direct->size());
  for (const std::uint32_t row : std::span(*attempt.direct).first(count)) {
    if (is_known(*view_.graph, row)) {
      ends.push_back(row);
    }
  }
  if (count < 2) {
    return;
  }
  attempt.bridges = view_.graph->bridges(ends, {{request_.now_seconds, kTauDays}, rule.least_link},
                                         reach(), rule.depth);
}

}  // namespace oneiros::search
