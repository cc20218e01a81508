// How an index weighs a query, searches and scores: from the documents of one moment.
#include <algorithm>
#include <cassert>
#include <utility>

#include "lexical/document_scores.h"
#include "lexical/index.h"
#include "lexical/query/clause_search.h"
#include "lexical/query/clause_weights.h"

namespace oneiros::lexical {

Index::Moment Index::weighed(std::span<const QueryTerm> query) const {
  std::vector<std::uint64_t> df(query.size());
  std::uint64_t document_count = 0;
  Moment moment;
  published_.read([&](const Published& published) noexcept {
    moment.view = published.view;
    const Statistics& statistics = published.statistics;
    document_count = statistics.document_count();
    moment.query.average_length = document_count == 0 ? 0 : statistics.average_length();
    for (std::size_t i = 0; i < query.size(); ++i) {
      df[i] = statistics.df(query[i].term);
    }
  });
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (df[i] != 0) {
      const double weight = query[i].count * idf(bm25_.variant, document_count, df[i]);
      moment.query.terms.push_back({.term = query[i].term, .weight = weight});
      moment.holder_count += df[i];
    }
  }
  return moment;
}

WeighedQuery Index::weigh(std::span<const QueryTerm> query) const { return weighed(query).query; }

Found Index::search(std::span<const QueryTerm> query, std::size_t k,
                    const AllowedRows& allowed) const {
  return search(weighed(query), k, allowed);
}

Index::Moment Index::weighed(const ClauseQuery& query) const {
  ClauseStatistics told;
  for (const CountedClause& one : query.clauses) {
    for (const TermId term : one.clause.terms) {
      told.df.emplace(term, 0);
    }
  }
  Moment moment;
  published_.read([&](const Published& published) noexcept {
    moment.view = published.view;
    const Statistics& statistics = published.statistics;
    told.document_count = statistics.document_count();
    told.average_length = told.document_count == 0 ? 0 : statistics.average_length();
    for (auto& [term, df] : told.df) {
      df = statistics.df(term);
    }
  });
  moment.query = weigh_clauses(query, bm25_, told, moment.view.searched());
  return moment;
}

WeighedQuery Index::weigh(const ClauseQuery& query) const { return weighed(query).query; }

Found Index::search(const ClauseQuery& query, std::size_t k, const AllowedRows& allowed) const {
  return search(weighed(query), k, allowed);
}

std::vector<std::uint8_t> Index::permitted(const ClauseQuery& query,
                                           const AllowedRows& allowed) const {
  const Moment moment = weighed(query);
  return permitted_rows(moment.view.searched(), moment.query, bm25_, allowed);
}

Found Index::search(Moment moment, std::size_t k, const AllowedRows& allowed) const {
  Found found;
  if (k != 0 && !moment.query.is_empty()) {
    TopK best(k);
    const std::vector<SegmentView> segments = moment.view.searched();
    if (!moment.query.clauses.empty()) {
      search_clauses(segments, moment.query, bm25_, allowed, best);
    } else if (!search_few(moment, allowed, best)) {
      search_segments(segments, moment.query, bm25_, allowed, best);
    }
    found.hits = best.take();
  }
  found.query = std::move(moment.query);
  return found;
}

// Where few rows are allowed, each is scored by itself. False, with nothing offered, if they are
// not few, if a score does not tell who holds a term, or if somebody wrote meanwhile: rows lead to
// the documents of now, which are those of the moment only as long as nobody does.
bool Index::search_few(const Moment& moment, const AllowedRows& allowed, TopK& best) const {
  // How many postings are searched in the time that it takes to look a term up for a row.
  constexpr std::size_t kRowCost = 128;
  const WeighedQuery& query = moment.query;
  const std::optional<std::vector<std::uint32_t>> rows =
      allowed.list(moment.holder_count / kRowCost / query.terms.size());
  if (!rows || std::ranges::any_of(query.terms,
                                   [](const WeightedTerm& term) { return !(term.weight > 0.0); })) {
    return false;
  }
  std::vector<Location> locations;
  locations.reserve(rows->size());
  for (const std::uint32_t row : *rows) {
    const std::optional<Location> location = moment.view.locate(rows_, row);
    if (!location) {
      return false;
    }
    locations.push_back(*location);
  }
  if (view().epoch != moment.view.epoch) {
    return false;
  }
  std::vector<double> scores(rows->size());
  score_locations(moment.view, query, locations, scores);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (scores[i] > 0.0 && scores[i] >= best.threshold()) {
      best.offer({.score = scores[i], .row = (*rows)[i]});
    }
  }
  return true;
}

void Index::score_locations(const View& now, const WeighedQuery& query,
                            std::span<const Location> locations, std::span<double> scores) const {
  for (const SegmentView& segment : now.searched()) {
    score_documents(segment, query, bm25_, locations, scores);
  }
  if (now.segments->incoming) {
    score_documents(now.of(*now.segments->incoming), query, bm25_, locations, scores);
  }
}

void Index::score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                       std::span<double> scores) const {
  assert(rows.size() == scores.size());
  std::ranges::fill(scores, 0.0);
  if (query.is_empty()) {
    return;
  }
  std::vector<bool> is_scored(rows.size());
  std::vector<Location> locations(rows.size());
  for (std::size_t left = rows.size(); left != 0;) {
    const View now = view();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      locations[i] = {};
      if (is_scored[i]) {
        continue;
      }
      if (const std::optional<Location> found = now.locate(rows_, rows[i])) {
        locations[i] = *found;
        is_scored[i] = true;
        --left;
      }
    }
    score_locations(now, query, locations, scores);
  }
}

}  // namespace oneiros::lexical
