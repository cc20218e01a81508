// The retrieval channels of a search: each gives a ranked list, and can score other rows on the
// same scale so that a program can compare candidates found by different channels.
//
// Lexical: BM25 with dynamic pruning (cpp/lexical); with WordRelevance the scores are rescaled to
// [floor, 1] between the best and the worst hit and mixed with the share of words found. Vector: an
// exact scan over all vectors, unless an approximate index was searched before the run. Temporal:
// one pass over the times of all rows.
//
// Invariants: hits are ordered by score, ties by row (time: by row within equal nearness), so that
// results are independent of how a list was computed. NaN is "no score". Formulas are evaluated by
// the kernels of cpp/ranking, the same that batches run.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "columns/text_matching.h"
#include "ranking/evaluate.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDay = 86'400.0;

Operand operand(std::span<const double> values) {
  return {ElementType::f64, values.data(), values.size()};
}

// Source: docs/systems/omega.md O3.
std::vector<double> minmax_floor(std::span<const double> scores, double low) {
  std::vector<double> found(scores.size());
  const std::array inputs{operand(scores)};
  evaluate<double>("minmax_floor", {{"low", {low}}}, inputs, found, 1);
  return found;
}

// Nearness of times to a range: 1 inside it, falling to 0 at a distance of the range's length.
std::vector<double> proximity(std::span<const double> times, const NamedTime& range) {
  std::vector<double> found(times.size());
  const std::array inputs{operand(times), operand({&range.start, 1}), operand({&range.end, 1})};
  evaluate<double>("temporal_proximity", {}, inputs, found, 1);
  return found;
}

// Sorts by score, best first, then by row.
void sort_by_score(RankedRows& hits) {
  std::vector<std::uint32_t> order(hits.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return hits.scores[a] != hits.scores[b] ? hits.scores[a] > hits.scores[b]
                                            : hits.rows[a] < hits.rows[b];
  });
  RankedRows sorted;
  sorted.rows.reserve(order.size());
  sorted.scores.reserve(order.size());
  for (const std::uint32_t place : order) {
    sorted.rows.push_back(hits.rows[place]);
    sorted.scores.push_back(hits.scores[place]);
  }
  hits = std::move(sorted);
}

// Rows with values in rank order. The order of the hash map has no influence.
RankedRows ranked(const std::unordered_map<std::uint32_t, double>& values) {
  RankedRows hits;
  hits.rows.reserve(values.size());
  hits.scores.reserve(values.size());
  for (const auto& [row, value] : values) {
    hits.rows.push_back(row);
    hits.scores.push_back(value);
  }
  sort_by_score(hits);
  return hits;
}

RankedRows hits_of(const lexical::Found& found) {
  RankedRows hits;
  hits.rows.reserve(found.hits.size());
  hits.scores.reserve(found.hits.size());
  for (const lexical::Hit& hit : found.hits) {
    hits.rows.push_back(hit.row);
    hits.scores.push_back(hit.score);
  }
  return hits;
}

// (1 - share) x normalised BM25 + share x share of words. Source: docs/systems/omega.md O3.
void mix_in_words(std::span<double> normalised, std::span<const double> words, double share) {
  for (std::size_t i = 0; i < normalised.size(); ++i) {
    normalised[i] = (1.0 - share) * normalised[i] + share * words[i];
  }
}

// The time a memory is about: that of its event, or else of its creation.
std::vector<double> times_of(const Columns& columns, std::span<const std::uint32_t> rows) {
  const Columns::Reader reader(columns);
  const auto event = reader.values<Column::event_at>();
  const auto created = reader.values<Column::created_at>();
  std::vector<double> times;
  times.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    times.push_back(std::isnan(event[row]) ? created[row] : event[row]);
  }
  return times;
}

}  // namespace

// Retrieves the hits of every channel of the plan and records a stage for each. The vector stage
// includes the time of a search that ran before, outside the core.
void SearchRun::ask(Attempt& attempt) {
  const SearchPlan& plan = *attempt.plan;
  attempt.answers.reserve(plan.channels.size());
  for (const ChannelPlan& channel : plan.channels) {
    std::string_view name;
    Note note = Note::none;
    ChannelAnswer answer;
    switch (channel.kind) {
      case ChannelKind::lexical:
        name = "bm25_search";
        answer = ask_lexical(channel);
        if (plan.pair_window > 0 && request_.syntax == lexical::QuerySyntax::kPlain) {
          answer.pairs = view_.lexical->pairs(request_.query, answer.query);
        }
        break;
      case ChannelKind::vector:
        name = "vector_search";
        answer = ask_vectors(channel);
        note = Note::vector_absent;
        break;
      case ChannelKind::temporal:
        name = "temporal_search";
        answer = ask_time(channel, attempt);
        note = time_of(attempt) == nullptr ? Note::no_time : Note::none;
        break;
    }
    if (request_.variant_rule) {
      ask_variants(channel, answer);
    }
    StageRecord& stage = trace_.end(name, request_.allowed_count, answer.hits.size(), note);
    if (channel.kind == ChannelKind::vector) {
      stage.duration_ms += request_.walk_ms;
    }
    for (const lexical::Typo& typo : answer.query.typos) {
      stage.note = Note::respelled;
      stage.text.append(typo.word).append(" ").append(typo.read_as).append("\n");
    }
    attempt.answers.push_back(std::move(answer));
  }
}

// BM25 hits; with WordRelevance they are rescaled, mixed with the share of words and sorted again,
// while the extremes of the raw scores are kept for scoring other rows. The request's own filter is
// used, as operators are evaluated by the index itself.
ChannelAnswer SearchRun::ask_lexical(const ChannelPlan& channel) const {
  const lexical::AllowedRows rows =
      request_.allowed ? lexical::AllowedRows(*request_.allowed) : lexical::AllowedRows();
  QueryWeighing by = weighing(channel);
  if (request_.statistics) {
    by.given = &*request_.statistics;
  }
  lexical::Found found = view_.lexical->search(request_.query, channel.depth_for(request_.k), rows,
                                               {.syntax = request_.syntax}, by);
  ChannelAnswer answer;
  answer.hits = hits_of(found);
  answer.query = std::move(found.query);
  answer.can_score = true;
  if (channel.words && !answer.hits.empty()) {
    answer.ends = {answer.hits.scores.front(), answer.hits.scores.back()};
    std::vector<double> relevance = minmax_floor(answer.hits.scores, channel.words->floor);
    mix_in_words(relevance, shares(request_.words, answer.hits.rows), channel.words->share);
    answer.hits.scores = std::move(relevance);
    sort_by_score(answer.hits);
  }
  return answer;
}

// Hits by cosine for one vector, cut at the channel's minimum. NaN ends the list.
RankedRows SearchRun::nearest(std::span<const float> vector, const std::optional<RankedRows>& hits,
                              const ChannelPlan& channel) const {
  RankedRows found;
  if (view_.vectors == nullptr || vector.size() != view_.vectors->dimension()) {
    return found;
  }
  if (hits) {
    found = *hits;
  } else {
    const lexical::AllowedRows rows = allowed();
    VectorRows chosen;
    if (!rows.are_all()) {
      chosen.allowed = rows.bits();
    }
    for (const lexical::Hit& hit :
         view_.vectors->nearest(vector, channel.depth_for(request_.k), chosen)) {
      found.rows.push_back(hit.row);
      found.scores.push_back(hit.score);
    }
  }
  if (channel.minimum) {
    const auto end = std::ranges::find_if(
        found.scores, [&](double score) { return !(score >= *channel.minimum); });
    found.rows.resize(static_cast<std::size_t>(end - found.scores.begin()));
    found.scores.resize(found.rows.size());
  }
  return found;
}

ChannelAnswer SearchRun::ask_vectors(const ChannelPlan& channel) const {
  ChannelAnswer answer;
  if (view_.vectors != nullptr && !request_.vector.empty() &&
      request_.vector.size() == view_.vectors->dimension()) {
    answer.hits = nearest(request_.vector, request_.hits, channel);
    answer.can_score = !answer.hits.empty() || !request_.scope ||
                       view_.vectors->count({.allowed = *request_.scope}) != 0;
  }
  return answer;
}

// Rows inside or near the named time, nearest first, equally near ones in order of insertion. One
// pass over the times of all rows; sorts only if fewer than `depth` rows lie inside.
ChannelAnswer SearchRun::ask_time(const ChannelPlan& channel, const Attempt& attempt) const {
  ChannelAnswer answer;
  const NamedTime* const range = time_of(attempt);
  if (range == nullptr) {
    return answer;
  }
  answer.can_score = true;
  const double length = range->end - range->start;
  // The kernel counts whole days, so the margin exceeds the length; scores beyond it are 0.
  const double reach = std::isfinite(length) ? length + 2 * kDay : 0.0;
  const double start = range->start - reach;
  const double end = range->end + reach;
  const lexical::AllowedRows may = allowed();
  std::vector<std::uint32_t> rows;
  std::vector<double> times;
  {
    const Columns::Reader reader(*view_.columns);
    const auto event = reader.values<Column::event_at>();
    const auto created = reader.values<Column::created_at>();
    const auto deleted = reader.values<Column::deleted_at>();
    for (std::size_t row = 0; row < reader.size(); ++row) {
      const double time = std::isnan(event[row]) ? created[row] : event[row];
      const auto number = static_cast<std::uint32_t>(row);
      if (time >= start && time <= end && std::isnan(deleted[row]) && may.contains(number)) {
        rows.push_back(number);
        times.push_back(time);
      }
    }
  }
  const std::vector<double> scores = proximity(times, *range);
  const std::size_t depth = channel.depth_for(request_.k);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < scores.size() && order.size() < depth; ++i) {
    if (scores[i] == 1.0) {
      order.push_back(i);
    }
  }
  // Otherwise `depth` rows have the greatest possible score, and sorting is not needed.
  if (order.size() < depth) {
    order.resize(scores.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
    order.resize(std::min(order.size(), depth));
  }
  for (const std::uint32_t place : order) {
    if (scores[place] > 0.0) {
      answer.hits.rows.push_back(rows[place]);
      answer.hits.scores.push_back(scores[place]);
    }
  }
  return answer;
}

// Gives each row the largest of its reciprocal ranks over query and variants, the latter times
// their weight, and its largest raw score, by which surfacing judges nearness. Source:
// docs/systems/omega.md O6.
void SearchRun::ask_variants(const ChannelPlan& channel, ChannelAnswer& answer) const {
  const VariantRule& rule = *request_.variant_rule;
  QueryWeighing by = weighing(channel);
  if (request_.variant_statistics) {
    by.given = &*request_.variant_statistics;
  }
  std::vector<RankedRows> lists;
  for (const Variant& variant : request_.variants) {
    if (channel.kind == ChannelKind::vector) {
      if (!variant.vector.empty()) {
        lists.push_back(nearest(variant.vector, variant.hits, channel));
      }
    } else if (channel.kind == ChannelKind::lexical) {
      const lexical::Found found =
          view_.lexical->search(variant.text, channel.depth_for(request_.k), allowed(), {}, by);
      RankedRows hits = hits_of(found);
      if (channel.words && !hits.empty()) {
        std::vector<double> relevance = minmax_floor(hits.scores, channel.words->floor);
        mix_in_words(relevance, shares(variant.words, hits.rows), channel.words->share);
        hits.scores = std::move(relevance);
        sort_by_score(hits);
      }
      lists.push_back(std::move(hits));
    }
  }
  std::unordered_map<std::uint32_t, double> values;
  std::unordered_map<std::uint32_t, double> scores;
  const auto take = [&](double weight, const RankedRows& hits) {
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const double value = weight / (rule.k + static_cast<double>(i + 1));
      double& best = values.try_emplace(hits.rows[i], 0.0).first->second;
      best = std::max(best, value);
      double& score = scores.try_emplace(hits.rows[i], hits.scores[i]).first->second;
      score = std::max(score, hits.scores[i]);
    }
  };
  take(1.0, answer.hits);
  for (const RankedRows& hits : lists) {
    take(rule.weight, hits);
  }
  answer.hits = ranked(scores);
  answer.ranks = ranked(values);
}

// Scores rows on the channel's scale.
std::vector<double> SearchRun::score_rows(const Attempt& attempt, std::size_t channel,
                                          std::span<const std::uint32_t> rows) const {
  const ChannelAnswer& answer = attempt.answers[channel];
  std::vector<double> scores(rows.size(), kNan);
  switch (attempt.plan->channels[channel].kind) {
    case ChannelKind::lexical:
      view_.lexical->score_rows(answer.query, rows, scores);
      put_on_scale(attempt, channel, rows, scores);
      break;
    case ChannelKind::vector:
      view_.vectors->cosines(request_.vector, rows, scores);
      break;
    case ChannelKind::temporal:
      scores = proximity(times_of(*view_.columns, rows), *time_of(attempt));
      break;
  }
  return scores;
}

// For rescaled BM25, the affine map of the hits is continued beyond their extremes, clamped to
// [0, 1]; rows without any query term keep 0.
void SearchRun::put_on_scale(const Attempt& attempt, std::size_t channel,
                             std::span<const std::uint32_t> rows, std::span<double> scores) const {
  const ChannelAnswer& answer = attempt.answers[channel];
  if (!answer.ends) {
    return;
  }
  const WordRelevance& rule = *attempt.plan->channels[channel].words;
  const auto [best, worst] = *answer.ends;
  const std::array both{worst, best};
  const std::vector<double> ends = minmax_floor(both, rule.floor);
  const double scale = best > worst ? (ends[1] - ends[0]) / (best - worst) : 0.0;
  std::vector<double> relevance(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    relevance[i] = std::clamp(ends[1] + (scores[i] - best) * scale, 0.0, 1.0);
  }
  mix_in_words(relevance, shares(request_.words, rows), rule.share);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scores[i] = scores[i] == 0.0 ? 0.0 : relevance[i];
  }
}

}  // namespace oneiros::search
