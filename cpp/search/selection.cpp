// The stages after scoring: surfacing removes results that are not near enough, the newer of two
// conflicting results is put first, a reranker reorders, duplicates keep the best of equal results,
// abstention returns nothing rather than something weak, and the cut keeps k, with places reserved
// for linked results.
//
// Invariants: stages only remove, reorder or rescore results; none adds a row. Once
// `attempt.reason` is set, results are empty and later stages are skipped. Every removal is
// recorded (far, duplicates) so that `why_not` can explain it.
//
// Cost: linear in the results, except duplicates: each result's vector is compared with all kept
// ones, and texts are compared for twice as many rows as have been looked at. Source:
// docs/systems/omega.md O16, O25 to O28; docs/systems/house.md H7.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>

#include "columns/cosine_baseline.h"
#include "columns/text_matching.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

constexpr std::size_t kFirstTexts = 12;

// Removes the words that occur in the text.
void leave_found(std::vector<std::string_view>& missing, std::string_view held) {
  TextColumn texts;
  const std::uint32_t row = 0;
  const MemoryText text{held, {}};
  texts.write({&row, 1}, {&text, 1});
  std::erase_if(missing, [&](const std::string_view& word) {
    std::uint32_t found = 0;
    count_words(texts, {&row, 1}, {&word, 1}, {&found, 1});
    return found != 0;
  });
}

// Whether the query is about the older statement: it names a number or date of it that the newer
// does not have, or, where the newer announces no change, anything else of it. "Which version of
// Nginx do we run?" is not answered by a later text about the version of GitLab.
bool asks_for(const conflicts::Statement& query, const conflicts::Statement& older,
              const conflicts::Statement& newer) {
  const auto is_asked = [&](std::uint32_t stem) {
    return std::ranges::binary_search(query.all(), stem) &&
           !std::ranges::binary_search(newer.all(), stem);
  };
  return std::ranges::any_of(older.numbers(), is_asked) ||
         std::ranges::any_of(older.dates(), is_asked) ||
         (newer.cue == 0 && std::ranges::any_of(older.content(), is_asked));
}

// Whether the two were found not to conflict.
bool are_distinct(const AssociationGraph* graph, std::uint32_t one, std::uint32_t other) {
  if (graph == nullptr || std::max(one, other) >= graph->row_count()) {
    return false;  // the graph grows lazily: rows beyond its end have no links yet
  }
  const std::optional<HalfLink> link = graph->find({{&one, 1}, {&other, 1}}).front();
  return link && link->kind() == LinkKind::distinct;
}

// The least factor, or nearly, that brings a score > 0 above a limit: a factor, so that
// explanations compute the same bits. Infinite if none does. Products with a subnormal score are
// multiples of the smallest number, so that the next factors give the same: there it begins above.
double just_above(double limit, double score) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_subnormal = score < std::numeric_limits<double>::min();
  double factor = (is_subnormal ? std::nextafter(limit, kInfinity) : limit) / score;
  while (score * factor <= limit && factor < kInfinity) {
    factor = std::nextafter(factor, kInfinity);
  }
  return factor;
}

}  // namespace

// The order of stages. Surfacing by nearness comes first, so that rerankers see only near results;
// the rule on scores comes last, when reranking has changed them.
void SearchRun::finish(Attempt& attempt, Outside& outside) {
  const SearchPlan& plan = *attempt.plan;
  const Surfacing* const surfacing = surfacing_of(attempt);
  if (surfacing != nullptr) {
    leave_far(attempt, *surfacing);
    if (attempt.reason.note != Note::none) {
      return;
    }
  }
  if (plan.newer_first && view_.statements) {
    lead_with_newer(attempt, *plan.newer_first);
  }
  if (plan.rerank && !plan.rerank->after_links) {
    rerank(attempt, *plan.rerank, outside);
  }
  if (plan.has_expansion()) {
    follow_links(attempt, outside);
  }
  if (plan.rerank && plan.rerank->after_links) {
    rerank(attempt, *plan.rerank, outside);
  }
  if (plan.duplicates) {
    leave_duplicates(attempt, *plan.duplicates);
  }
  if (surfacing != nullptr) {
    leave_low(attempt, *surfacing);
  } else if (const auto* const weak = std::get_if<WeakBest>(&plan.abstention)) {
    require_near_best(attempt, *weak, outside);
  }
  if (attempt.reason.note == Note::none) {
    cut(attempt);
  }
}

// Clears the results and stores the `misses` best candidates.
void SearchRun::abstain(Attempt& attempt, std::size_t misses) {
  attempt.results.clear();
  Signals signals;
  for (const auto& [name, values] : attempt.signals) {
    signals.emplace(name, values);
  }
  const Ranked nearest =
      attempt.plan->scoring.plan->rank(rank_request(*attempt.candidates, signals), misses, false);
  for (std::size_t i = 0; i < nearest.rows.size(); ++i) {
    attempt.misses.push_back(
        {nearest.rows[i], nearest.relevance[i], nearest.retention[i], nearest.scores[i]});
  }
}

// Rows are compared only within one project, user, agent and namespace. A row created after the
// time of the search, or superseded, leads nothing, nor one that is trusted less, nor one outside
// of the time that the query names in which the other lies. Oldest first: scores only grow, so that
// a row that was raised above another stays above it.
void SearchRun::lead_with_newer(Attempt& attempt, const NewerFirst& rule) {
  std::vector<Result>& results = attempt.results;
  const std::size_t count = std::min(rule.depth, results.size());
  if (count < 2) {
    return;
  }
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(results[i].row);
  }
  const std::vector<conflicts::Statement> statements = view_.statements->at(rows);
  std::optional<conflicts::Statement> query;  // read for the first pair that may conflict
  const auto is_asked_for = [&](std::size_t older, std::size_t newer) {
    if (!query) {
      query = view_.statements->read(request_.plain_text.value_or(request_.query));
    }
    return asks_for(*query, statements[older], statements[newer]);
  };
  std::vector<double> scores(count);
  std::ranges::transform(std::span(results).first(count), scores.begin(), &Result::score);
  std::vector<double> created(count);
  std::vector<std::array<std::uint32_t, 4>> parts(count);
  std::vector<double> trust(count);
  std::vector<bool> leads(count);
  std::vector<bool> is_in_time(count);
  {
    const NamedTime* const time = time_of(attempt);
    const Columns::Reader reader(*view_.columns);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t row = rows[i];
      created[i] = reader.values<Column::created_at>()[row];
      const double event = reader.values<Column::event_at>()[row];
      const double occurred = std::isnan(event) ? created[i] : event;
      is_in_time[i] = time != nullptr && time->start <= occurred && occurred <= time->end;
      trust[i] = reader.values<Column::trust>()[row];
      parts[i] = {reader.values<Column::project_code>()[row],
                  reader.values<Column::user_code>()[row], reader.values<Column::agent_code>()[row],
                  reader.values<Column::namespace_code>()[row]};
      leads[i] = created[i] <= request_.now_seconds &&
                 reader.values<Column::superseded>()[row] == 0 && can_conflict(statements[i]);
    }
  }
  std::vector<std::size_t> newest_first(count);
  std::iota(newest_first.begin(), newest_first.end(), std::size_t{0});
  std::ranges::stable_sort(newest_first, std::greater{}, [&](std::size_t i) { return created[i]; });
  const conflicts::StatementPairs pairs(statements, rule.model,
                                        conflicts::log_odds(rule.least_confidence));
  std::vector<std::optional<Conflict>> raised(count);
  for (std::size_t at = count - 1; at > 0; --at) {
    const std::size_t older = newest_first[at];
    double best = 0;
    std::size_t leader_at = at;
    const auto compare = [&](bool are_above) {
      for (std::size_t before = 0; before < at && can_conflict(statements[older]); ++before) {
        const std::size_t newer = newest_first[before];
        if ((results[newer].score > results[older].score) != are_above || !leads[newer] ||
            created[newer] == created[older] || parts[newer] != parts[older] ||
            scores[newer] <= 0 || trust[newer] < trust[older] ||
            (is_in_time[older] && !is_in_time[newer])) {
          continue;
        }
        const double confidence = pairs.confidence(older, newer);
        const bool is_better = confidence > best || (confidence == best && before < leader_at);
        if (confidence > 0 && confidence >= rule.least_confidence && is_better &&
            !is_asked_for(older, newer) &&
            !are_distinct(view_.graph.get(), rows[older], rows[newer])) {
          best = confidence;
          leader_at = before;
        }
      }
    };
    // Where one that stands above already is the most confident, nothing changes. So these are
    // compared only if there is one that does not.
    compare(false);
    if (leader_at == at) {
      continue;
    }
    compare(true);
    const std::size_t leader = newest_first[leader_at];
    if (results[leader].score > results[older].score) {
      continue;
    }
    const double factor = just_above(results[older].score, scores[leader]);
    if (!std::isfinite(scores[leader] * factor)) {
      continue;  // no factor brings it above the other
    }
    results[leader].score = scores[leader] * factor;
    raised[leader] = Conflict{rows[older], rows[leader], best, factor};
  }
  for (const std::optional<Conflict>& conflict : raised) {
    if (conflict) {
      attempt.conflicts.push_back(*conflict);
    }
  }
  std::ranges::stable_sort(results, stands_before);
  StageRecord& stage = trace_.end("newer_first", count, results.size());
  if (!attempt.conflicts.empty()) {
    stage.note = Note::newer_first;
    stage.first = static_cast<double>(attempt.conflicts.size());
  }
}

// Removes results below both the cosine and the word threshold. Rows found only by the time channel
// are exempt: they have neither. So are lexical hits of a query without content words. Source:
// docs/systems/omega.md O27, its hits.
void SearchRun::leave_far(Attempt& attempt, const Surfacing& rule) {
  const SearchPlan& plan = *attempt.plan;
  std::unordered_map<std::uint32_t, double> cosines;
  std::unordered_set<std::uint32_t> found;
  for (std::size_t channel = 0; channel < attempt.answers.size(); ++channel) {
    const RankedRows& hits = attempt.answers[channel].hits;
    if (plan.channels[channel].kind == ChannelKind::temporal) {
      continue;
    }
    const bool is_vector = plan.channels[channel].kind == ChannelKind::vector;
    if (is_vector || request_.words.count > 0) {
      found.insert(hits.rows.begin(), hits.rows.end());
    }
    if (is_vector) {
      for (std::size_t i = 0; i < hits.size(); ++i) {
        cosines.emplace(hits.rows[i], hits.scores[i]);
      }
    }
  }
  const std::span<const std::uint32_t> rows = attempt.candidates->rows();
  const auto known = attempt.signals.find("word_ratio");
  const std::vector<double> shares =
      known == attempt.signals.end() ? overlaps(rows) : known->second;
  std::unordered_map<std::uint32_t, double> share_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    share_of.emplace(rows[i], shares[i]);
  }
  for (const std::uint32_t row : found) {
    const auto share = share_of.find(row);
    const auto cosine = cosines.find(row);
    if (share != share_of.end() && share->second >= rule.least_overlap) {
      continue;
    }
    if (cosine != cosines.end() && cosine->second >= rule.least_cosine) {
      continue;
    }
    Farness far;
    far.overlap = share == share_of.end() ? 0.0 : share->second;
    if (cosine != cosines.end()) {
      far.cosine = cosine->second;
    }
    attempt.far.emplace(row, far);
  }
  leave(attempt, rule, Note::surfacing, "surfacing");
}

// Removes results with too low a score; linked results are exempt. Source: docs/systems/omega.md
// O27, composite.
void SearchRun::leave_low(Attempt& attempt, const Surfacing& rule) {
  for (const Result& result : attempt.results) {
    if (result.score < rule.least_score && attempt.link_to(result.row) == nullptr) {
      Farness far;
      far.is_low = true;
      far.score = result.score;
      attempt.far.insert_or_assign(result.row, far);
    }
  }
  leave(attempt, rule, Note::low, "abstention");
}

// Removes the rows recorded as far with this reason; abstains if no result is left.
void SearchRun::leave(Attempt& attempt, const Surfacing& rule, Note reason,
                      std::string_view stage_name) {
  const bool is_low = reason == Note::low;
  const std::size_t before = attempt.results.size();
  const std::uint32_t nearest = before == 0 ? 0 : attempt.results.front().row;
  std::erase_if(attempt.results, [&](const Result& result) {
    const auto far = attempt.far.find(result.row);
    return far != attempt.far.end() && far->second.is_low == is_low;
  });
  const std::size_t after = attempt.results.size();
  Note note = Note::none;
  if (request_.k > 0 && before > 0 && after == 0) {
    note = reason;
    attempt.reason = {.note = reason, .left_count = before, .nearest = attempt.far.at(nearest)};
    abstain(attempt, rule.misses);
  }
  trace_.end(stage_name, before, after, note);
}

// Multiplies scores by the reranker's factors and sorts again, or applies its order to the first
// results. Results without a factor keep their score.
void SearchRun::rerank(Attempt& attempt, const Rerank& rule, Outside& outside) {
  std::vector<Result>& results = attempt.results;
  const std::size_t count = results.size();
  if (!request_.has_reranker) {
    trace_.end("rerank", count, count, Note::no_reranker);
    return;
  }
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < std::min(rule.top, count); ++i) {
    rows.push_back(results[i].row);
  }
  Judgement judgement = outside.judge(rows);
  if (!judgement.values.empty()) {
    for (std::size_t i = 0; i < std::min(judgement.values.size(), rows.size()); ++i) {
      if (!std::isnan(judgement.values[i])) {
        results[i].score *= judgement.values[i];
        attempt.reranked.emplace_back(rows[i], judgement.values[i]);
      }
    }
    std::ranges::stable_sort(results, stands_before);
  } else if (!judgement.order.empty()) {
    const std::vector<Result> before(results.begin(),
                                     results.begin() + static_cast<std::ptrdiff_t>(rows.size()));
    for (std::size_t i = 0; i < before.size(); ++i) {
      results[i] = before.at(judgement.order.at(i));
    }
  }
  StageRecord& stage =
      trace_.end("rerank", count, count, judgement.note.empty() ? Note::none : Note::reranker);
  stage.text = std::move(judgement.note);
  stage.prompt_tokens = judgement.prompt_tokens;
  stage.completion_tokens = judgement.completion_tokens;
}

// Text groups are computed for a growing prefix of the rows, since usually few rows are needed.
// Cosines to all kept rows are compared in single precision, the precision of the rule.
FirstOfEach first_of_each(const Duplicates& rule, const TextColumn& texts,
                          const VectorColumn* vectors, std::span<const std::uint32_t> rows,
                          std::size_t most) {
  FirstOfEach found;
  // For each of a growing prefix of `rows`: the place of the first row with the same text.
  std::vector<std::uint32_t> alike;
  std::unordered_map<std::size_t, std::size_t> by_text;
  std::vector<std::uint32_t> kept_rows;
  std::vector<double> cosines;
  for (std::size_t place = 0; place < rows.size() && found.kept.size() < most; ++place) {
    if (place == alike.size()) {
      const std::size_t ahead = std::min(rows.size(), 2 * std::max(place, most));
      alike.resize(ahead);
      first_alike(texts, rows.first(ahead), rule.characters, alike);
    }
    std::optional<std::size_t> better;
    if (const auto known = by_text.find(alike[place]); known != by_text.end()) {
      better = known->second;
    } else if (vectors != nullptr && !kept_rows.empty()) {
      const VectorColumn::Reader reader(*vectors);
      if (const float* const own = reader.at(rows[place])) {
        cosines.resize(kept_rows.size());
        reader.cosines({own, vectors->dimension()}, kept_rows, cosines);
        const auto near = std::ranges::find_if(
            cosines, [&](double cosine) { return static_cast<float>(cosine) >= rule.cosine; });
        if (near != cosines.end()) {
          better = found.kept[static_cast<std::size_t>(near - cosines.begin())];
        }
      }
    }
    if (better) {
      found.left.emplace_back(place, *better);
      continue;
    }
    by_text.emplace(alike[place], place);
    found.kept.push_back(place);
    kept_rows.push_back(rows[place]);
  }
  return found;
}

// All results are examined if places are reserved for links, since the cut may then reach beyond k.
// More than k are if leave_low() is to remove some that stand before others: in an order set by a
// reranker, or before linked results, which it spares.
void SearchRun::leave_duplicates(Attempt& attempt, const Duplicates& rule) {
  std::vector<Result>& results = attempt.results;
  std::vector<std::uint32_t> rows;
  for (const Result& result : results) {
    rows.push_back(result.row);
  }
  const bool is_whole = request_.is_whole || attempt.plan->kept_places(request_.k) > 0;
  std::size_t most = is_whole ? results.size() : request_.k;
  const auto examined = [&] {
    return first_of_each(rule, *view_.texts, view_.vectors.get(), rows, most);
  };
  FirstOfEach found = examined();
  if (const Surfacing* const surfacing = surfacing_of(attempt)) {
    const auto stays = [&](const Result& result) {
      return result.score >= surfacing->least_score || attempt.link_to(result.row) != nullptr;
    };
    const auto stays_at = [&](std::size_t place) { return stays(results[place]); };
    while (most < results.size() && !std::ranges::is_partitioned(results, stays) &&
           static_cast<std::size_t>(std::ranges::count_if(found.kept, stays_at)) < request_.k) {
      most *= 2;
      found = examined();
    }
  }
  std::vector<Result> kept;
  for (const std::size_t place : found.kept) {
    kept.push_back(results[place]);
  }
  for (const auto& [place, better] : found.left) {
    attempt.duplicates.emplace_back(rows[place], rows[better]);
  }
  results = std::move(kept);
  trace_.end("duplicates", found.kept.size() + found.left.size(), found.kept.size());
}

// Abstains if the best cosine is low and most words of the query occur in no candidate. Source:
// docs/systems/house.md H7.
void SearchRun::require_near_best(Attempt& attempt, const WeakBest& rule, Outside& outside) {
  const std::optional<std::size_t> vector = attempt.plan->place_of(ChannelKind::vector);
  if (request_.vector.empty() || request_.k == 0 || !vector) {
    return;
  }
  const RankedRows& hits = attempt.answers[*vector].hits;
  const double best =
      hits.empty() ? rule.cosine : above_baseline(hits.scores.front(), attempt.baseline);
  if (best >= rule.cosine) {
    return;
  }
  const std::vector<std::string> stems = outside.stems();
  if (stems.empty()) {
    return;
  }
  std::vector<std::string_view> missing(stems.begin(), stems.end());
  const auto found_count = [&] { return stems.size() - missing.size(); };
  const auto suffice = [&] {
    return static_cast<double>(found_count()) / static_cast<double>(stems.size()) >= rule.words;
  };
  // The first texts contain the words of most queries; only otherwise are the others loaded.
  std::span<const std::uint32_t> rows = attempt.candidates->rows();
  for (std::size_t most = kFirstTexts; !suffice() && !rows.empty(); most = rows.size()) {
    const std::size_t count = std::min(most, rows.size());
    leave_found(missing, outside.texts(rows.first(count)));
    rows = rows.subspan(count);
  }
  if (suffice()) {
    return;
  }
  attempt.reason = {
      .note = Note::weak, .first = best, .second = static_cast<double>(found_count())};
  trace_.end("abstention", attempt.ranked.kept_count, 0, Note::weak);
  abstain(attempt, rule.misses);
}

// Keeps the best k. If fewer linked results than reserved places are among them, the next linked
// ones replace the last direct ones.
void SearchRun::cut(Attempt& attempt) {
  const std::size_t k = request_.k;
  std::vector<Result>& results = attempt.results;
  if (request_.is_whole) {
    attempt.uncut = results;
  }
  if (results.size() <= k) {
    return;
  }
  const auto is_linked = [&](const Result& result) {
    return attempt.link_to(result.row) != nullptr;
  };
  std::vector<Result> taken(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(k));
  const std::size_t places = attempt.linked.empty() ? 0 : std::min(attempt.plan->kept_places(k), k);
  const auto held = static_cast<std::size_t>(std::ranges::count_if(taken, is_linked));
  std::vector<Result> spare;
  for (std::size_t i = k; i < results.size() && held + spare.size() < places; ++i) {
    if (is_linked(results[i])) {
      spare.push_back(results[i]);
    }
  }
  if (!spare.empty()) {
    std::size_t leaving = spare.size();
    for (auto result = taken.end(); leaving > 0 && result != taken.begin();) {
      --result;
      if (!is_linked(*result)) {
        result = taken.erase(result);
        --leaving;
      }
    }
    taken = merged(taken, std::move(spare));
  }
  results = std::move(taken);
}

// The mean nearness of the first results, 0 to 1: the larger of word share and cosine. Factors of
// the profile have no influence. Source: docs/systems/omega.md O28.
double SearchRun::confidence_of(const Attempt& attempt, const Retry& rule) const {
  const std::size_t count = std::min(rule.results, request_.k);
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < std::min(count, attempt.results.size()); ++i) {
    rows.push_back(attempt.results[i].row);
  }
  if (rows.empty()) {
    return 0.0;
  }
  std::vector<double> near = shares(request_.words, rows);
  for (std::size_t channel = 0; channel < attempt.answers.size(); ++channel) {
    if (attempt.plan->channels[channel].kind == ChannelKind::vector &&
        attempt.answers[channel].can_score) {
      const std::vector<double> cosines = score_rows(attempt, channel, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!std::isnan(cosines[i])) {
          near[i] = std::max(near[i], std::min(cosines[i], 1.0));
        }
      }
    }
  }
  double sum = 0;
  for (const double value : near) {
    sum += value;
  }
  return sum / static_cast<double>(count);
}

// Raw scores of the first result and of the hits, by channel. The result is usually one of the
// hits; a neighbour or a linked memory is scored here.
Leads SearchRun::leads_of(const Attempt& attempt, std::uint32_t row) const {
  Leads leads;
  for (std::size_t channel = 0; channel < attempt.answers.size(); ++channel) {
    const ChannelAnswer& answer = attempt.answers[channel];
    const ChannelKind kind = attempt.plan->channels[channel].kind;
    if (!answer.can_score || kind == ChannelKind::temporal) {
      continue;
    }
    const RankedRows& hits = answer.hits;
    const auto place = std::ranges::find(hits.rows, row) - hits.rows.begin();
    const auto found = static_cast<std::size_t>(place);
    const double score = found < hits.size()
                             ? hits.scores[found]
                             : score_rows(attempt, channel, std::span(&row, 1)).front();
    if (kind == ChannelKind::lexical) {
      leads.words = lead_in_words(score, hits.scores, view_.lexical->possible_score(answer.query));
    } else {
      leads.meaning = lead_in_meaning(score, hits.scores);
    }
  }
  return leads;
}

}  // namespace oneiros::search
