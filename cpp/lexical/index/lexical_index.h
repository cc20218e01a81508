// Texts in, ranked rows out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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
#include "lexical/search/bm25.h"
#include "lexical/search/top_k.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "threads/pause.h"

namespace oneiros {

// A query over kMaxQueryBytes, kMaxQueryTerms or kMaxQueryClauses.
class QueryTooLarge : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// What the index takes of one row. A title or tags that are empty are none.
struct IndexedText {
  std::string_view text;
  std::string_view title = {};
  std::string_view tags = {};  // one a line; their words stand far apart
};

// How a query is read.
struct QueryReading {
  lexical::QuerySyntax syntax = lexical::QuerySyntax::kPlain;
  // Of the words, phrases and prefixes without a sign, so many must match; at least one anyway, if
  // none has the sign of a must.
  std::size_t minimum_should_match = 0;
};

// What a snapshot says beside its documents.
struct SnapshotNotes {
  std::string identity;    // of all that the documents were made with: is compared
  std::string attachment;  // whatever belongs to them: is kept
  std::uint64_t revision = 0;
  std::vector<SnapshotSection> sections = {};  // others to be saved, in the order of their kinds
};

// Texts that an index has analyzed and not yet added; good for that index alone.
struct AnalyzedTexts {
  std::vector<lexical::Document> documents = {};
  std::vector<std::size_t> sizes = {};  // in bytes, of each document's texts
  std::size_t cut_token_count = 0;
};

// Thread-safe. Texts are analysed before any lock of the index is taken; searches run side by side.
// What searches, weighs or scores calls pause_here() on its way.
class LexicalIndex {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20U;  // of one field
  static constexpr std::size_t kMaxQueryBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kMaxQueryTerms = 1024;    // distinct
  static constexpr std::size_t kMaxQueryClauses = 1024;  // distinct

  // Throws std::invalid_argument without an analyzer.
  LexicalIndex(std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
               const lexical::SegmentLimits& limits = {});

  // Writes the texts of this moment to a file that open() takes back, whole or not at all; writers
  // wait hardly. Throws std::system_error.
  void save(const std::filesystem::path& path, const SnapshotNotes& notes);

  // An index over the mapped file, which must stay as it is, though it may be replaced by another.
  // `analyzer` has the options of the one it was saved with, and has met no text. Throws
  // SnapshotDamaged if the identity is another, or unless all of the file can be relied upon;
  // std::system_error if it cannot be read.
  struct Opened;
  static std::unique_ptr<LexicalIndex> open(const SnapshotReader& snapshot,
                                            std::shared_ptr<Analyzer> analyzer,
                                            const lexical::Bm25& bm25, std::size_t threads,
                                            const lexical::SegmentLimits& limits = {});
  static Opened open(const std::filesystem::path& path, std::string_view identity,
                     std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25,
                     std::size_t threads, const lexical::SegmentLimits& limits = {});

  // Each text takes the place of its row's former one. Returns how many tokens were cut to
  // Analyzer::kMaxTokenBytes. Throws std::invalid_argument if a field is over kMaxTextBytes.
  std::size_t add(std::uint32_t row, const IndexedText& text);
  std::size_t add(std::uint32_t row, std::string_view text) {
    return add(row, IndexedText{.text = text});
  }

  // The same for many; a row that comes twice has the last. Throws std::invalid_argument, with
  // nothing changed, if the sizes differ or a field is too long. Whatever is thrown later: the
  // texts up to some point are in, the others are not.
  std::size_t add_many(std::span<const std::uint32_t> rows, std::span<const IndexedText> texts,
                       const Interrupt& pause = {});

  // What add_many makes of texts before it adds them, which changes nothing that is found: it may
  // run beside searches and writers. Throws std::invalid_argument if a field is too long.
  [[nodiscard]] AnalyzedTexts analyze_many(std::span<const IndexedText> texts) const;

  // Adds what analyze_many of this index returned, as add_many adds the texts.
  std::size_t add_analyzed(std::span<const std::uint32_t> rows, AnalyzedTexts texts,
                           const Interrupt& pause = {});

  // False if the row has no text.
  bool remove(std::uint32_t row) { return index_.remove(row); }

  // The best k texts that match the query, in rank order: in plain words, that hold one of them.
  // Any bytes are a query. Throws QueryTooLarge.
  lexical::Found search(std::string_view query, std::size_t k, const lexical::AllowedRows& allowed,
                        const QueryReading& reading = {}) const;

  // The allowed rows that the query's signs permit, as bits; nothing if it has no sign that forbids
  // any. Throws QueryTooLarge.
  std::optional<std::vector<std::uint8_t>> permitted(std::string_view query,
                                                     const QueryReading& reading,
                                                     const lexical::AllowedRows& allowed) const;

  // The query as the texts of this moment weigh it. Throws QueryTooLarge.
  lexical::WeighedQuery weigh(std::string_view query, const QueryReading& reading = {}) const;

  // Writes each row's score, as a search that weighed the query so finds it, to the bit; 0 where
  // the row does not match or has no text. REQUIRES: rows.size() == scores.size().
  void score_rows(const lexical::WeighedQuery& query, std::span<const std::uint32_t> rows,
                  std::span<double> scores) const {
    index_.score_rows(query, rows, scores);
  }

  // One list a query, the same for any number of threads. Throws as search() does, whichever the
  // query; std::invalid_argument if thread_count is 0. More than 64 threads are not used.
  std::vector<lexical::Found> search_many(std::span<const std::string_view> queries, std::size_t k,
                                          const lexical::AllowedRows& allowed,
                                          std::size_t thread_count,
                                          const QueryReading& reading = {},
                                          const Interrupt& pause = {}) const;

  void seal() { index_.seal(); }
  bool contains(std::uint32_t row) const { return index_.contains(row); }
  std::size_t document_count() const { return index_.document_count(); }
  std::size_t segment_count() const { return index_.segment_count(); }
  std::size_t resident_bytes() const;  // the analyzer's vocabulary included
  lexical::IndexBytes index_bytes() const { return index_.bytes(); }  // without it
  std::size_t vocabulary_bytes() const;
  std::string merge_error() const { return index_.merge_error(); }

 private:
  using AnalyzedAsRead = std::variant<std::vector<lexical::QueryTerm>, lexical::ClauseQuery>;

  lexical::Document document_of(std::uint32_t row, const IndexedText& text,
                                std::size_t& cut_token_count) const;
  std::vector<Occurrence> analyze_tags(std::string_view tags, std::size_t& cut_token_count) const;
  AnalyzedAsRead analyze_query(std::string_view query, const QueryReading& reading) const;

  std::shared_ptr<Analyzer> analyzer_;
  lexical::FieldWeights weights_;
  lexical::Index index_;
};

struct LexicalIndex::Opened {
  std::unique_ptr<LexicalIndex> index;
  SnapshotNotes notes;
};

}  // namespace oneiros
