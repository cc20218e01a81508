// Weighing, searching and scoring over one view of the index.
#include <algorithm>
#include <cassert>
#include <utility>

#include "lexical/index/index.h"
#include "lexical/query/clause_search.h"
#include "lexical/query/clause_weights.h"
#include "lexical/search/document_scores.h"

namespace oneiros::lexical {

// Weights and view are taken in one read of the LeftRight, so that they agree.
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
  ClauseStatistics counts;
  for (const CountedClause& one : query.clauses) {
    for (const TermId term : one.clause.terms) {
      counts.df.emplace(term, 0);
    }
  }
  Moment moment;
  published_.read([&](const Published& published) noexcept {
    moment.view = published.view;
    const Statistics& statistics = published.statistics;
    counts.document_count = statistics.document_count();
    counts.average_length = counts.document_count == 0 ? 0 : statistics.average_length();
    for (auto& [term, df] : counts.df) {
      df = statistics.df(term);
    }
  });
  moment.query = weigh_clauses(query, bm25_, counts, moment.view.searched());
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
    } else {
      const RowFilters::Sight sight =
          allowed.are_all() ? RowFilters::Sight() : filters_.see(allowed.bits(), moment.view);
      const AllowedRows known(allowed, sight.share, sight.mapped.get());
      search_segments(segments, moment.query, bm25_, known, best);
    }
    found.hits = best.take();
  }
  found.query = std::move(moment.query);
  return found;
}

void Index::score_locations(const View& now, const WeighedQuery& query,
                            std::span<const Location> locations, std::span<double> scores) const {
  for (const SegmentView& segment : now.searched()) {
    score_documents(segment, query, bm25_, locations, scores);
  }
}

// Locates each row's document in the view, then scores segment by segment.
void Index::score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                       std::span<double> scores) const {
  assert(rows.size() == scores.size());
  std::ranges::fill(scores, 0.0);
  if (query.is_empty()) {
    return;
  }
  const View now = view();
  std::vector<Location> locations;
  locations.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    locations.push_back(now.locate(row));
  }
  score_locations(now, query, locations, scores);
}

}  // namespace oneiros::lexical
