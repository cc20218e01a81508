// Short cuts: queries that the lexical channel decides alone, so that the other channels' hits do
// not become candidates. The fast path accepts memories that are almost the query itself; the
// strong signal a lexical hit far ahead of the second. Both may continue with a simpler plan.
// Source: docs/systems/omega.md O1, O5.
#include <algorithm>
#include <numeric>

#include "columns/text_matching.h"
#include "search/search_run.h"

namespace oneiros::search {

namespace {

std::size_t lexical_channel(const SearchPlan& plan) {
  return plan.place_of(ChannelKind::lexical).value_or(plan.channels.size());
}

}  // namespace

std::vector<RankedRows> SearchRun::decide(Attempt& attempt, Outside& outside) {
  const SearchPlan& plan = *attempt.plan;
  std::vector<RankedRows> hits;
  std::size_t hit_count = 0;
  for (const ChannelAnswer& answer : attempt.answers) {
    hits.push_back(answer.hits);
    hit_count += answer.hits.size();
  }
  if (!plan.fast_path && !plan.strong_signal) {
    return hits;
  }
  const std::size_t place = lexical_channel(plan);
  const ChannelAnswer& lexical = attempt.answers[place];
  const auto only = [&](const RankedRows& found) {
    std::vector<RankedRows> alone(hits.size());
    alone[place] = found;
    return alone;
  };
  if (plan.fast_path) {
    Note note = Note::none;
    const RankedRows alike = almost_the_query(*plan.fast_path, lexical, outside, note);
    trace_.end("fast_path", lexical.hits.size(), alike.size(), note, plan.fast_path->similarity);
    if (!alike.empty()) {
      attempt.short_cut = ShortCut::fast_path;
      if (plan.at_once) {
        attempt.plan = plan.at_once;
      }
      return only(alike);
    }
  }
  if (plan.strong_signal) {
    const StrongSignal& rule = *plan.strong_signal;
    const std::vector<double>& scores = lexical.hits.scores;
    const double lead = scores.size() < 2 ? 0.0 : scores[0] - scores[1];
    Note note = Note::none;
    double first = 0;
    if (request_.variant_rule) {
      note = Note::has_variants;
    } else if (scores.size() < 2) {
      note = Note::too_few_hits;
      first = static_cast<double>(scores.size());
    } else if (!(scores[0] >= rule.threshold && lead >= rule.gap)) {
      note = Note::not_strong;
      first = scores[0];
    }
    const bool is_strong = note == Note::none;
    trace_.end("strong_signal", hit_count, is_strong ? lexical.hits.size() : hit_count, note, first,
               lead);
    if (is_strong) {
      attempt.short_cut = ShortCut::by_words;
      const RankedRows found = lexical.hits;
      if (plan.by_words) {
        attempt.plan = plan.by_words;
      }
      return only(found);
    }
  }
  return hits;
}

// Returns the lexical hits whose text is almost the query's, most similar first. `note` gets the
// reason if there are none. Rows whose text must be cut before it is normalised are compared
// separately.
RankedRows SearchRun::almost_the_query(const FastPath& rule, const ChannelAnswer& lexical,
                                       Outside& outside, Note& note) const {
  RankedRows alike;
  if (!request_.is_keyword_like) {
    note = Note::not_keyword_like;
    return alike;
  }
  if (request_.time || request_.leaves_time || request_.is_deep) {
    note = Note::time_or_deep;
    return alike;
  }
  const std::vector<std::uint32_t>& rows = lexical.hits.rows;
  std::vector<double> shares(rows.size());
  trigram_similarities(*view_.texts, rows, request_.spoken, rule.characters, rule.similarity,
                       shares);
  for (const auto& [place, start] : outside.uneven_starts(rows, rule.characters)) {
    TextColumn one;
    const std::uint32_t row = 0;
    const MemoryText text{start, {}};
    one.write({&row, 1}, {&text, 1});
    trigram_similarities(one, {&row, 1}, request_.spoken, start.size() + 1, rule.similarity,
                         {&shares[place], 1});
  }
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return shares[a] != shares[b] ? shares[a] > shares[b] : rows[a] < rows[b];
  });
  for (const std::uint32_t place : order) {
    if (!(shares[place] >= rule.similarity)) {
      break;
    }
    alike.rows.push_back(rows[place]);
    alike.scores.push_back(shares[place]);
  }
  if (alike.empty()) {
    note = Note::nothing_as_like;
  }
  return alike;
}

}  // namespace oneiros::search
