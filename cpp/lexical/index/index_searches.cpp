// Weighing, searching and scoring over one view of the index.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lexical/index/index.h"
#include "lexical/query/clause_search.h"
#include "lexical/query/clause_weights.h"
#include "lexical/search/document_counts.h"
#include "lexical/search/document_scores.h"

namespace oneiros::lexical {

namespace {

TermStatistics by_term(std::span<const TermId> terms, const CountedTerms& counted) {
  TermStatistics statistics{.counts = counted.counts, .df = {}, .prefix_df = {}};
  statistics.df.reserve(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    statistics.df.emplace(terms[i], counted.df[i]);
  }
  return statistics;
}

}  // namespace

// View and statistics are taken in one read of the LeftRight, so that they agree.
View Index::counted(std::span<const TermId> terms, const StatisticsSource& source,
                    CountedTerms& counted) const {
  View view;
  published_.read([&](const Published& published) noexcept {
    view = published.view;
    if (source.is_whole()) {
      const Statistics& statistics = published.statistics;
      counted.counts = statistics.counts();
      for (std::size_t i = 0; i < terms.size(); ++i) {
        counted.df[i] = statistics.df(terms[i]);
      }
    }
  });
  if (source.given != nullptr) {
    counted.counts = source.given->counts;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto found = source.given->df.find(terms[i]);
      counted.df[i] = found == source.given->df.end() ? 0 : found->second;
    }
  } else if (!source.rows.are_all()) {
    const std::shared_ptr<const MappedRows> mapped = filters_.translate(source.rows.bits(), view);
    counted = count_documents(view.searched(), source.rows, mapped.get(), terms);
  }
  return view;
}

bool Index::contains_term(TermId term) const {
  bool is_any = false;
  published_.read(
      [&](const Published& published) noexcept { is_any = published.statistics.df(term) != 0; });
  return is_any;
}

Index::Moment Index::weighed(std::span<const QueryTerm> query,
                             const StatisticsSource& source) const {
  std::vector<TermId> terms(query.size());
  std::ranges::transform(query, terms.begin(), &QueryTerm::term);
  CountedTerms counted{.counts = {}, .df = std::vector<std::uint64_t>(terms.size())};
  Moment moment;
  moment.view = this->counted(terms, source, counted);
  moment.query.average_length = counted.counts.average_length();
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (counted.df[i] != 0) {
      const double weight = query[i].share * query[i].count *
                            idf(bm25_.variant, counted.counts.documents, counted.df[i]);
      moment.query.terms.push_back({.term = query[i].term, .weight = weight});
    } else {
      moment.query.missing_count += query[i].share;
    }
  }
  if (counted.counts.documents != 0) {
    moment.query.missing_weight = idf(bm25_.variant, counted.counts.documents, 1);
  }
  return moment;
}

WeighedQuery Index::weigh(std::span<const QueryTerm> query, const StatisticsSource& source) const {
  return weighed(query, source).query;
}

Found Index::search(std::span<const QueryTerm> query, std::size_t k, const AllowedRows& allowed,
                    const StatisticsSource& source) const {
  return search(weighed(query, source), k, allowed);
}

TermStatistics Index::statistics(std::span<const QueryTerm> query,
                                 const StatisticsSource& source) const {
  std::vector<TermId> terms(query.size());
  std::ranges::transform(query, terms.begin(), &QueryTerm::term);
  CountedTerms counted{.counts = {}, .df = std::vector<std::uint64_t>(terms.size())};
  this->counted(terms, source, counted);
  return by_term(terms, counted);
}

std::pair<View, TermStatistics> Index::counted(const ClauseQuery& query,
                                               const StatisticsSource& source) const {
  std::vector<TermId> terms;
  for (const CountedClause& one : query.clauses) {
    terms.insert(terms.end(), one.clause.terms.begin(), one.clause.terms.end());
  }
  std::ranges::sort(terms);
  terms.erase(std::ranges::unique(terms).begin(), terms.end());
  CountedTerms counted{.counts = {}, .df = std::vector<std::uint64_t>(terms.size())};
  View view = this->counted(terms, source, counted);
  TermStatistics statistics = by_term(terms, counted);
  if (source.given != nullptr) {
    statistics.prefix_df = source.given->prefix_df;
  } else {
    statistics.prefix_df = count_prefixes(query, bm25_, statistics, source.rows, view.searched());
  }
  return {std::move(view), std::move(statistics)};
}

Index::Moment Index::weighed(const ClauseQuery& query, const StatisticsSource& source) const {
  auto [view, statistics] = counted(query, source);
  return {.view = std::move(view), .query = weigh_clauses(query, bm25_, statistics)};
}

WeighedQuery Index::weigh(const ClauseQuery& query, const StatisticsSource& source) const {
  return weighed(query, source).query;
}

Found Index::search(const ClauseQuery& query, std::size_t k, const AllowedRows& allowed,
                    const StatisticsSource& source) const {
  return search(weighed(query, source), k, allowed);
}

TermStatistics Index::statistics(const ClauseQuery& query, const StatisticsSource& source) const {
  return counted(query, source).second;
}

std::vector<std::uint8_t> Index::permitted(const ClauseQuery& query,
                                           const AllowedRows& allowed) const {
  const Moment moment = weighed(query, {});
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

void Index::lengths_of(std::span<const std::uint32_t> rows, std::span<double> lengths) const {
  assert(rows.size() == lengths.size());
  const View now = view();
  std::unordered_map<std::uint32_t, DocumentLengths> by_segment;
  for (const SegmentView& segment : now.searched()) {
    by_segment.emplace(segment.segment->serial(), segment.segment->documents().lengths());
  }
  const std::vector<Location> locations = now.locate(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = by_segment.find(locations[i].segment);
    lengths[i] =
        found == by_segment.end() ? 0.0 : bm25_.weights.part * found->second[locations[i].document];
  }
}

// Two passes over the terms of the documents: which there are, then the sum of their weights. What
// has pairs of characters needs another one, to know which single characters are theirs.
void Index::information_of(std::span<const std::uint32_t> rows, const SinglesOf& singles_of,
                           std::span<double> information) const {
  assert(rows.size() == information.size());
  const View now = view();
  std::unordered_map<std::uint32_t, const DocumentTable*> by_segment;
  for (const SegmentView& segment : now.searched()) {
    by_segment.emplace(segment.segment->serial(), &segment.segment->documents());
  }
  const std::vector<Location> locations = now.locate(rows);
  const auto for_each_term = [&](const Location& location, const auto& visit) {
    const auto found = by_segment.find(location.segment);
    if (found != by_segment.end()) {
      found->second->for_each_term(location.document, visit);
    }
  };
  std::vector<std::uint8_t> is_used;
  for (const Location& location : locations) {
    for_each_term(location, [&](TermId term) {
      if (term >= is_used.size()) {
        is_used.resize(std::size_t{term} + 1);
      }
      is_used[term] = 1;
    });
  }
  std::vector<TermId> terms;
  for (std::size_t term = 0; term < is_used.size(); ++term) {
    if (is_used[term] != 0) {
      terms.push_back(static_cast<TermId>(term));
    }
  }
  CountedTerms counted{.counts = {}, .df = std::vector<std::uint64_t>(terms.size())};
  this->counted(terms, {}, counted);
  std::vector<double> weight(is_used.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    // 0: the document was removed since the view was taken.
    weight[terms[i]] = counted.df[i] == 0
                           ? 0.0
                           : idf(Bm25Variant::kLucene, counted.counts.documents, counted.df[i]);
  }
  const std::vector<std::array<TermId, 2>> found = singles_of(terms);
  std::unordered_map<TermId, std::array<TermId, 2>> singles;  // of the pairs
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (found[i].front() != kUnknownTerm) {
      singles.emplace(terms[i], found[i]);
    }
  }
  std::unordered_set<TermId> of_pairs;  // of one document
  for (std::size_t i = 0; i < rows.size(); ++i) {
    of_pairs.clear();
    if (!singles.empty()) {
      for_each_term(locations[i], [&](TermId term) {
        if (const auto pair = singles.find(term); pair != singles.end()) {
          of_pairs.insert(pair->second.begin(), pair->second.end());
        }
      });
    }
    double sum = 0;
    for_each_term(locations[i],
                  [&](TermId term) { sum += of_pairs.contains(term) ? 0.0 : weight[term]; });
    information[i] = sum;
  }
}

// Locates the rows' documents in the view, then scores segment by segment.
void Index::score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                       std::span<double> scores) const {
  assert(rows.size() == scores.size());
  std::ranges::fill(scores, 0.0);
  if (query.is_empty()) {
    return;
  }
  const View now = view();
  score_locations(now, query, now.locate(rows), scores);
}

void Index::score_with_pairs(const WeighedQuery& query, const WordPairs& pairs,
                             std::uint32_t window, std::span<const std::uint32_t> rows,
                             std::span<double> scores, std::span<double> pair_scores) const {
  assert(rows.size() == scores.size() && rows.size() == pair_scores.size());
  std::ranges::fill(pair_scores, 0.0);
  std::vector<std::uint8_t> is_wanted(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      is_wanted[i] = 1;
      scores[i] = 0.0;
    }
  }
  if (query.is_empty()) {
    return;
  }
  const View now = view();
  const std::vector<Location> locations = now.locate(rows);
  for (const SegmentView& segment : now.searched()) {
    lexical::score_with_pairs(segment, query, bm25_, pairs, window, locations, is_wanted, scores,
                              pair_scores);
  }
}

}  // namespace oneiros::lexical
