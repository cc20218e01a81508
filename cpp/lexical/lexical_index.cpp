#include "lexical/lexical_index.h"

#include <algorithm>
#include <string>
#include <utility>

#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

// A batch becomes visible at once.
constexpr std::size_t kBatchTexts = 256;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;

std::shared_ptr<Analyzer> required(std::shared_ptr<Analyzer> analyzer) {
  if (!analyzer) {
    throw std::invalid_argument("analyzer: must not be null");
  }
  return analyzer;
}

void check_text(std::string_view text, const std::string& name) {
  if (text.size() > LexicalIndex::kMaxTextBytes) {
    throw std::invalid_argument(name + ": must be at most " +
                                std::to_string(LexicalIndex::kMaxTextBytes) +
                                " bytes of UTF-8, got " + std::to_string(text.size()));
  }
}

}  // namespace

LexicalIndex::LexicalIndex(std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
                           const lexical::SegmentLimits& limits)
    : analyzer_(required(std::move(analyzer))), index_(bm25, limits) {}

std::size_t LexicalIndex::add(std::uint32_t row, std::string_view text) {
  check_text(text, "text");
  const AnalyzedText analyzed = analyzer_->analyze(text);
  const lexical::Document document = lexical::count_terms(row, analyzed.occurrences);
  index_.add({&document, 1});
  return analyzed.cut_token_count;
}

std::size_t LexicalIndex::add_many(std::span<const std::uint32_t> rows,
                                   std::span<const std::string_view> texts, const Pause& pause) {
  if (rows.size() != texts.size()) {
    throw std::invalid_argument("texts: must be as many as rows (" + std::to_string(rows.size()) +
                                "), got " + std::to_string(texts.size()));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    check_text(texts[i], "texts[" + std::to_string(i) + "]");
  }
  std::size_t cut_token_count = 0;
  std::vector<lexical::Document> batch;
  std::size_t batch_bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const AnalyzedText text = analyzer_->analyze(texts[i]);
    batch.push_back(lexical::count_terms(rows[i], text.occurrences));
    cut_token_count += text.cut_token_count;
    batch_bytes += texts[i].size();
    if (batch.size() == kBatchTexts || batch_bytes >= kBatchBytes || i + 1 == texts.size()) {
      index_.add(batch);
      batch.clear();
      batch_bytes = 0;
      if (pause) {
        pause();
      }
    }
  }
  return cut_token_count;
}

std::vector<lexical::QueryTerm> LexicalIndex::analyze_query(std::string_view query) const {
  if (query.size() > kMaxQueryBytes) {
    throw QueryTooLarge("query: must be at most " + std::to_string(kMaxQueryBytes) +
                        " bytes of UTF-8, got " + std::to_string(query.size()));
  }
  const AnalyzedQuery analyzed = analyzer_->analyze_whole_query(query);
  std::vector<lexical::QueryTerm> terms = lexical::count_query_terms(analyzed.terms);
  if (const std::size_t count = terms.size() + analyzed.unknown_term_count;
      count > kMaxQueryTerms) {
    throw QueryTooLarge("query: must hold at most " + std::to_string(kMaxQueryTerms) +
                        " distinct terms, got " + std::to_string(count));
  }
  return terms;
}

lexical::Found LexicalIndex::search(std::string_view query, std::size_t k,
                                    const lexical::AllowedRows& allowed) const {
  return index_.search(analyze_query(query), k, allowed);
}

std::vector<lexical::Found> LexicalIndex::search_many(std::span<const std::string_view> queries,
                                                      std::size_t k,
                                                      const lexical::AllowedRows& allowed,
                                                      std::size_t thread_count,
                                                      const Pause& pause) const {
  if (thread_count == 0) {
    throw std::invalid_argument("threads: must be at least 1, got 0");
  }
  std::vector<lexical::Found> found(queries.size());
  const auto search_each = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      found[i] = search(queries[i], k, allowed);
    }
  };
  for_each_chunk(queries.size(), thread_count, 1, search_each, {.pause = pause});
  return found;
}

std::size_t LexicalIndex::resident_bytes() const {
  return index_.resident_bytes() + analyzer_->resident_bytes();
}

}  // namespace oneiros
