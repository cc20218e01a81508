// The lexical index over texts: analysis, indexing, queries and snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/filters/allowed_rows.h"
#include "lexical/index/index.h"
#include "lexical/query/clauses.h"
#include "lexical/query/word_shares.h"
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "threads/pause.h"

namespace oneiros {

// Thrown for a query beyond kMaxQueryBytes, kMaxQueryTerms or kMaxQueryClauses.
class QueryTooLarge : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// The indexed fields of a row. An empty title or tags field counts as absent.
struct IndexedText {
  std::string_view text;
  std::string_view title = {};
  std::string_view tags = {};  // one per line; phrases do not cross tags
};

// How a query is interpreted.
struct QueryReading {
  lexical::QuerySyntax syntax = lexical::QuerySyntax::kPlain;
  // The number of words, phrases and prefixes without an operator that must match; at least one
  // anyway if no clause is required.
  std::size_t minimum_should_match = 0;
};

// Statistics as a value, of one index or of several: terms by their spelling, so that they can be
// added. All numbers are sums over documents, and additive over disjoint sets of them.
struct QueryStatistics {
  lexical::DocumentCounts counts;
  std::map<std::string, std::uint64_t, std::less<>> df;         // by term
  std::map<std::string, std::uint64_t, std::less<>> prefix_df;  // by prefix
  lexical::PrefixTerms prefix_terms;                            // the terms that it finds
};

// What weighs a query: the statistics of the documents of some rows, by default of all, or given
// ones in their place, and the shares of its words.
struct QueryWeighing {
  lexical::AllowedRows rows = {};
  const QueryStatistics* given = nullptr;
  lexical::WordShares shares = {};
};

// Metadata and further sections of a snapshot.
struct SnapshotNotes {
  std::string identity;    // of everything the documents depend on; compared on opening
  std::string attachment;  // stored and returned unchanged
  std::uint64_t revision = 0;
  std::vector<SnapshotSection> sections = {};  // additional sections, ordered by kind
};

// Analysed texts that have not been added yet. Valid only for the index that made them.
struct AnalyzedTexts {
  std::vector<lexical::Document> documents = {};
  std::vector<std::size_t> sizes = {};  // bytes of each document's texts
  std::size_t cut_token_count = 0;
};

// Thread-safe. Texts are analysed before any lock of the index is taken; searches run in parallel.
// Searching, weighing and scoring call pause_here().
class LexicalIndex {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20U;  // per field
  static constexpr std::size_t kMaxQueryBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kMaxQueryTerms = 1024;    // distinct
  static constexpr std::size_t kMaxQueryClauses = 1024;  // distinct

  // Throws std::invalid_argument without an analyzer.
  LexicalIndex(std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
               const lexical::SegmentLimits& limits = {});

  // Writes the current texts to a file for open(), atomically; writers are hardly delayed. Throws
  // std::system_error.
  void save(const std::filesystem::path& path, const SnapshotNotes& notes);

  // Opens a mapped file, which must not be changed in place but may be replaced. `analyzer` must
  // have the options it was saved with, and must be new. Throws SnapshotDamaged for another
  // identity or an invalid file, std::system_error if it cannot be read.
  struct Opened;
  static std::unique_ptr<LexicalIndex> open(const SnapshotReader& snapshot,
                                            std::shared_ptr<Analyzer> analyzer,
                                            const lexical::Bm25& bm25, std::size_t threads,
                                            const lexical::SegmentLimits& limits = {});
  static Opened open(const std::filesystem::path& path, std::string_view identity,
                     std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
                     std::size_t threads, const lexical::SegmentLimits& limits = {});

  // Indexes a text in place of the row's former one. Returns the number of tokens cut to
  // Analyzer::kMaxTokenBytes. Throws std::invalid_argument for a field over kMaxTextBytes.
  std::size_t add(std::uint32_t row, const IndexedText& text);
  std::size_t add(std::uint32_t row, std::string_view text) {
    return add(row, IndexedText{.text = text});
  }

  // The same for many texts; of a repeated row the last one counts. Throws std::invalid_argument,
  // without changes, if the sizes differ or a field is too long. After any later exception the
  // texts up to some point have been added.
  std::size_t add_many(std::span<const std::uint32_t> rows, std::span<const IndexedText> texts,
                       const Interrupt& pause = {});

  // The analysis part of add_many(), which changes no search result and may run concurrently with
  // searches and writers. Throws std::invalid_argument if a field is too long.
  [[nodiscard]] AnalyzedTexts analyze_many(std::span<const IndexedText> texts) const;

  // The second part of add_many(). REQUIRES: `texts` were analysed by this index.
  std::size_t add_analyzed(std::span<const std::uint32_t> rows, AnalyzedTexts texts,
                           const Interrupt& pause = {});

  // Returns false if the row has no text.
  bool remove(std::uint32_t row) { return index_.remove(row); }

  // The best k texts that match the query, in rank order; a plain query matches texts with any of
  // its words. Any bytes are a valid query. Throws QueryTooLarge, and std::invalid_argument if
  // given statistics lack a term of the query that the index has. REQUIRES: the statistics cover
  // all allowed rows.
  lexical::Found search(std::string_view query, std::size_t k, const lexical::AllowedRows& allowed,
                        const QueryReading& reading = {}, const QueryWeighing& by = {}) const;

  // The statistics with which search() weighs the query by `by.rows`. A prefix also finds the terms
  // that `by.given`, whose numbers are not used, lists for it. Throws QueryTooLarge.
  QueryStatistics statistics(std::string_view query, const QueryReading& reading = {},
                             const QueryWeighing& by = {}) const;

  // The allowed rows that the query's operators permit, as bits; no value if they exclude none. A
  // prefix also finds the terms that `given` lists for it. Throws QueryTooLarge.
  std::optional<std::vector<std::uint8_t>> permitted(std::string_view query,
                                                     const QueryReading& reading,
                                                     const lexical::AllowedRows& allowed,
                                                     const QueryStatistics* given = nullptr) const;

  // Weighs the query. Throws as search().
  lexical::WeighedQuery weigh(std::string_view query, const QueryReading& reading = {},
                              const QueryWeighing& by = {}) const;

  // Writes each row's score under these weights, with the bits a search gives; 0 if it does not
  // match or has no text. REQUIRES: rows.size() == scores.size().
  void score_rows(const lexical::WeighedQuery& query, std::span<const std::uint32_t> rows,
                  std::span<double> scores) const {
    index_.score_rows(query, rows, scores);
  }

  // Writes the length of each row's text, in words, those of title and tags by their weights; 0
  // without one. REQUIRES: rows.size() == lengths.size().
  void lengths_of(std::span<const std::uint32_t> rows, std::span<double> lengths) const {
    index_.lengths_of(rows, lengths);
  }

  // Writes how much each row's text, title and tags say: the sum of the Lucene idf of their
  // distinct terms but the single characters of their pairs; 0 without one. REQUIRES: rows.size()
  // == information.size().
  void information_of(std::span<const std::uint32_t> rows, std::span<double> information) const {
    index_.information_of(
        rows, [this](std::span<const TermId> terms) { return analyzer_->singles_of(terms); },
        information);
  }

  // The pairs of neighbouring words of a query in plain syntax, weighed as in `weighed`, which
  // weigh() or search() returned for it; none for a query with clauses.
  lexical::WordPairs pairs(std::string_view query, const lexical::WeighedQuery& weighed) const;

  // Writes the score of each row whose score is NaN, as score_rows(), and what each row gains for
  // the pairs that its text has at most `window` words apart; 0 without a text. REQUIRES: the query
  // has no clauses, and pairs() made the pairs from it; as many rows as scores and pair scores.
  void score_with_pairs(const lexical::WeighedQuery& query, const lexical::WordPairs& pairs,
                        std::uint32_t window, std::span<const std::uint32_t> rows,
                        std::span<double> scores, std::span<double> pair_scores) const {
    index_.score_with_pairs(query, pairs, window, rows, scores, pair_scores);
  }

  // The score that no text exceeds under these weights.
  double possible_score(const lexical::WeighedQuery& query) const {
    return lexical::possible_score(query, index_.bm25());
  }

  // One result per query, the same for any number of threads (at most 64 are used). Throws as
  // search() for any of the queries, and std::invalid_argument if thread_count is 0.
  std::vector<lexical::Found> search_many(std::span<const std::string_view> queries, std::size_t k,
                                          const lexical::AllowedRows& allowed,
                                          std::size_t thread_count,
                                          const QueryReading& reading = {},
                                          const QueryWeighing& by = {},
                                          const Interrupt& pause = {}) const;

  // See Index.
  void seal() { index_.seal(); }
  bool contains(std::uint32_t row) const { return index_.contains(row); }
  std::size_t document_count() const { return index_.document_count(); }
  std::size_t segment_count() const { return index_.segment_count(); }
  std::size_t resident_bytes() const;  // including the analyzer's vocabulary
  lexical::IndexBytes index_bytes() const { return index_.bytes(); }  // without it
  std::size_t vocabulary_bytes() const;
  std::string merge_error() const { return index_.merge_error(); }

 private:
  // A word that the vocabulary lacks.
  struct UnknownWord {
    std::string term;
    std::uint32_t count;
    double share;
  };
  // A bag of words: the terms that the vocabulary has, and the others.
  struct AnalyzedTerms {
    std::vector<lexical::QueryTerm> terms;
    double unknown_count = 0;               // distinct, each by its share
    std::vector<UnknownWord> unknown = {};  // where words differ in their shares
  };
  using AnalyzedAsRead = std::variant<AnalyzedTerms, lexical::ClauseQuery>;

  // Analyses all fields of a text into a document.
  lexical::Document document_of(std::uint32_t row, const IndexedText& text,
                                std::size_t& cut_token_count) const;
  // Analyses tags line by line, with a gap of positions between tags.
  std::vector<Occurrence> analyze_tags(std::string_view tags, std::size_t& cut_token_count) const;
  // Parses and analyses a query, as a bag of words if that is equivalent.
  AnalyzedAsRead analyze_query(std::string_view query, const QueryReading& reading,
                               const QueryWeighing& by = {}) const;
  // The same for plain syntax.
  AnalyzedTerms analyze_terms(std::string_view query, const lexical::WordShares& shares) const;
  // Returns use(terms or clauses, source of statistics), a weighed query or what was found by it,
  // with its missing words counted and, by the shares, words one slip away in their place.
  template <typename Use>
  auto weighed_by(std::string_view query, const QueryReading& reading, const QueryWeighing& by,
                  const Use& use) const;
  // The query with a word one slip away in place of each word that none of the counted documents
  // has; no value if there is none. `weighed` is the query as it is.
  struct Respelled;
  std::optional<Respelled> respelled(std::string_view query, const AnalyzedTerms& words,
                                     const lexical::WeighedQuery& weighed,
                                     const lexical::StatisticsSource& source,
                                     const QueryWeighing& by) const;
  // Lets queries know the terms of given statistics.
  void learn_unknown(const std::map<std::string, std::uint64_t, std::less<>>& df) const;
  // The documents that have each term, by the source: `given` if it is not null.
  std::vector<std::uint64_t> holders(std::span<const TermId> terms,
                                     const lexical::StatisticsSource& source,
                                     const QueryStatistics* given) const;
  // Given statistics by the term numbers of this index.
  lexical::TermStatistics translate(const QueryStatistics& given,
                                    const AnalyzedAsRead& query) const;

  std::shared_ptr<Analyzer> analyzer_;
  lexical::FieldWeights weights_;
  lexical::Index index_;
};

// The result of opening a file.
struct LexicalIndex::Opened {
  std::unique_ptr<LexicalIndex> index;
  SnapshotNotes notes;
};

}  // namespace oneiros
