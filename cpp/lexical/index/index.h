// The inverted index over term numbers: segments, global statistics, exact top-k search.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lexical/filters/allowed_rows.h"
#include "lexical/filters/row_filters.h"
#include "lexical/index/view.h"
#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"
#include "lexical/search/document_counts.h"
#include "lexical/search/statistics.h"
#include "lexical/search/term_statistics.h"
#include "lexical/search/top_k.h"
#include "lexical/search/window_search.h"
#include "lexical/search/word_pairs.h"
#include "lexical/segments/document.h"
#include "lexical/segments/document_table.h"
#include "threads/background_task.h"
#include "threads/fork_hooks.h"
#include "threads/left_right.h"

namespace oneiros::lexical {

// When a growing segment is sealed, and how many sealed ones of a size are merged. A full segment
// is searched more slowly until it is sealed, and the time to seal is linear in its postings.
struct SegmentLimits {
  std::size_t documents = 8'192;
  std::size_t postings = std::size_t{1} << 18;
  std::size_t fan_in = 8;  // >= 2
  // Limit on the size of a merged segment, so that very large ones are not rewritten repeatedly.
  std::size_t merged_bytes = std::size_t{3} << 29U;
  std::size_t packed_from =
      DocumentTable::kPackedFrom;  // bytes of occurrences from which on they are compressed
};

// Memory use in bytes, mapped memory included.
struct IndexBytes {
  std::size_t postings = 0;     // documents, codes and frequencies
  std::size_t terms = 0;        // term directories
  std::size_t occurrences = 0;  // terms of texts in order
  std::size_t documents = 0;    // rows, lengths and deaths
  std::size_t rows = 0;         // row to document, and cached filters
  std::size_t statistics = 0;
  std::size_t growing = 0;  // segments that are not sealed

  // The sum of all parts.
  std::size_t total() const {
    return postings + terms + occurrences + documents + rows + statistics + growing;
  }
};

// A distinct term of a query with its number of occurrences, and the share of its weight that it
// has in this query, above 0 and at most 1.
struct QueryTerm {
  TermId term;
  std::uint32_t count;
  double share = 1.0;
};

// Hits in rank order, and the weighted query for scoring other rows on the same scale.
struct Found {
  std::vector<Hit> hits;
  WeighedQuery query;
};

// Distinct terms in order of first appearance.
std::vector<QueryTerm> count_query_terms(std::span<const TermId> terms);

// An LSM-like index: documents go to a growing segment; full segments are sealed and sealed ones
// merged in the background. Results depend on the living documents only: not on the order of
// arrival, on former documents, or on the division into segments.
//
// Thread safety: all methods may be called concurrently. A search sees one consistent view, takes
// no lock and never waits. Writers are serialised; sealing and merging hold the writer lock only to
// claim their sources and to install the result. A writer that is faster than the background seals
// segments itself. The child of a fork continues with the index as it was between two writes.
class Index {
 public:
  // An empty index.
  explicit Index(const Bm25& bm25, const SegmentLimits& limits = {});
  // Cancels and waits for a merge in progress.
  ~Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Adds documents; each replaces the former one of its row. They become visible together. On
  // std::bad_alloc, documents up to some point have been added completely.
  void add(std::span<const Document> documents);

  // Returns false if the row has no document.
  bool remove(std::uint32_t row);

  // Seals the growing segment, merges until few segments are left, and waits for the background.
  void seal();

  // The best k documents with one of the terms, in rank order, and the weighted query. REQUIRES:
  // distinct terms; `allowed` permits no document that the statistics' source leaves out.
  Found search(std::span<const QueryTerm> query, std::size_t k, const AllowedRows& allowed,
               const StatisticsSource& source = {}) const;

  // Weighs a query with the current statistics. REQUIRES: distinct terms.
  WeighedQuery weigh(std::span<const QueryTerm> query, const StatisticsSource& source = {}) const;

  // The statistics with which weigh() weighs. REQUIRES: distinct terms.
  TermStatistics statistics(std::span<const QueryTerm> query,
                            const StatisticsSource& source = {}) const;

  // The same for queries with operators.
  Found search(const ClauseQuery& query, std::size_t k, const AllowedRows& allowed,
               const StatisticsSource& source = {}) const;
  WeighedQuery weigh(const ClauseQuery& query, const StatisticsSource& source = {}) const;
  TermStatistics statistics(const ClauseQuery& query, const StatisticsSource& source = {}) const;
  // The result of permitted_rows() as bits by row.
  std::vector<std::uint8_t> permitted(const ClauseQuery& query, const AllowedRows& allowed) const;

  // Writes the length of each row's document, in words of the text; 0 without one. REQUIRES:
  // rows.size() == lengths.size().
  void lengths_of(std::span<const std::uint32_t> rows, std::span<double> lengths) const;

  // Analyzer::singles_of.
  using SinglesOf =
      std::function<std::vector<std::array<TermId, 2>>(std::span<const TermId> terms)>;

  // Writes how much each row's document says: the sum of the Lucene idf of its distinct terms but
  // the single characters of its pairs; 0 without one. REQUIRES: rows.size() == information.size().
  void information_of(std::span<const std::uint32_t> rows, const SinglesOf& singles_of,
                      std::span<double> information) const;

  // Writes the score of each row's document as a search with the same weights gives, to the bit; 0
  // if it does not match. REQUIRES: rows.size() == scores.size().
  void score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                  std::span<double> scores) const;

  // Writes the score of each row whose score is NaN, as score_rows(), and for every row the weight
  // of the pairs that its document has near each other; 0 without one. REQUIRES: the query has no
  // clauses, and the pairs are of its words; as many rows as scores and pair scores.
  void score_with_pairs(const WeighedQuery& query, const WordPairs& pairs, std::uint32_t window,
                        std::span<const std::uint32_t> rows, std::span<double> scores,
                        std::span<double> pair_scores) const;

  const Bm25& bm25() const { return bm25_; }

  // True if a living document contains the term.
  bool contains_term(TermId term) const;

  // A snapshot of the current documents. It keeps segments alive that are merged later.
  View view() const;

  // A view in which no document is in a growing segment; and its writing to a snapshot file,
  // concurrent writes notwithstanding.
  View frozen_view();
  void write(const View& documents, SnapshotWriter& snapshot) const;
  // Loads what another index wrote, with any Bm25. Throws SnapshotDamaged if it is inconsistent.
  // REQUIRES: the index is new, and is discarded if this throws.
  void read(const SnapshotReader& snapshot, std::size_t term_count, std::size_t threads);

  // True if the row has a living document.
  bool contains(std::uint32_t row) const;
  std::size_t document_count() const;
  std::size_t segment_count() const;  // the growing one included, unless empty
  std::size_t resident_bytes() const { return bytes().total(); }
  IndexBytes bytes() const;  // waits for writers
  // The error of the last background merge; empty if it succeeded. A failed merge changes nothing
  // and is tried again with the next full segment.
  std::string merge_error() const;
  // Postings written by sealing and merging since construction, for measuring write amplification.
  std::uint64_t rewritten_posting_count() const { return rewritten_posting_count_.load(); }

 private:
  // What readers see, replaced by each write in both copies of the LeftRight.
  struct Published {
    View view;
    Statistics statistics;
  };
  // A view with the query weighed by its statistics.
  struct Moment {
    View view;
    WeighedQuery query;
  };
  // Segments that are merged, and their documents at the start.
  struct Merge {
    std::uint32_t serial = 0;
    std::vector<std::shared_ptr<const Segment>> segments;
    std::vector<SegmentView> sources;
  };

  // Count the terms of a query, and take a view, at the same moment.
  View counted(std::span<const TermId> terms, const StatisticsSource& source,
               CountedTerms& counted) const;
  std::pair<View, TermStatistics> counted(const ClauseQuery& query,
                                          const StatisticsSource& source) const;
  Moment weighed(std::span<const QueryTerm> query, const StatisticsSource& source) const;
  Moment weighed(const ClauseQuery& query, const StatisticsSource& source) const;
  // Adds to each score that of the document at its location, if it is part of the view.
  void score_locations(const View& now, const WeighedQuery& query,
                       std::span<const Location> locations, std::span<double> scores) const;
  Found search(Moment moment, std::size_t k, const AllowedRows& allowed) const;

  // REQUIRE: the caller holds writer_mutex_.
  const View& latest() const { return published_.latest().view; }
  // The current segments, including unpublished changes.
  const Segments& segments() const { return *latest().segments; }
  Location locate_living(std::uint32_t row) const;  // includes unpublished documents
  // Appends a document to the growing segment, freezing it first if it is full.
  void insert(const Document& document);
  // Makes room in both copies of the statistics, so that publishing cannot fail.
  void reserve_terms(const Document& document);
  // Make documents or a new list of segments visible. The former ones die in the same epoch.
  void publish(std::span<const Document> documents) noexcept;
  void publish(const std::shared_ptr<const Segments>& segments) noexcept;
  // Marks a document dead in the epoch that is published next.
  void die(Location location) noexcept;
  // Removes dead documents from the statistics.
  static void take_back(Statistics& statistics, const Segments& segments,
                        Location location) noexcept;
  // Ends the growing segment and starts a new one.
  void freeze();
  // Claims the oldest frozen segment for sealing, if there is one.
  std::optional<Merge> claim_seal();
  // `is_at_rest`: includes merges that pay off only if no writes follow.
  std::optional<Merge> claim_merge(bool is_at_rest);
  // Marks segments as being merged, so that no other merge takes them.
  Merge claim(std::vector<std::shared_ptr<const Segment>> segments);
  bool is_claimed(const Segment& segment) const;
  // Replaces the sources of a merge by its result.
  void install(const Merge& merge, std::shared_ptr<SealedSegment> merged,
               std::span<const std::vector<DocumentNumber>> renumbered);

  // REQUIRE: the caller does not hold writer_mutex_.
  void make_room();
  // Performs a merge and installs the result, unless cancelled.
  void run(const Merge& merge, const std::atomic<bool>* is_cancelled);
  // Gives up a claim.
  void release(const Merge& merge);
  // The work of the background task: seals and merges until nothing is due.
  void merge_in_background(const std::atomic<bool>& is_cancelled);
  // Frees memory to the system if at least that many bytes of segments were merged since the last
  // time.
  void give_back(std::size_t least) noexcept;

  const Bm25 bm25_;
  const SegmentLimits limits_;

  LeftRight<Published> published_;
  mutable RowFilters filters_;
  std::atomic<std::uint64_t> rewritten_posting_count_ = 0;

  mutable std::mutex writer_mutex_;  // guards all writing, and the members below
  std::uint32_t next_serial_ = 1;
  std::size_t term_room_ = 0;           // in both copies of the statistics
  std::size_t frequent_room_ = 0;       // likewise, for frequent terms
  std::size_t becoming_frequent_ = 0;   // upper bound, of unpublished documents
  std::vector<std::uint32_t> claimed_;  // serials of segments being merged
  bool is_merge_due_ = false;           // documents died, and a segment is worth rewriting
  std::string merge_error_;

  std::atomic<std::uint32_t> ended_merges_ = 0;
  std::atomic<std::size_t> freed_bytes_ =
      0;  // of merged segments, since memory was last given back
  BackgroundTask background_;
  ForkHooks fork_hooks_;  // last: destroyed first, so that a fork never calls it for a dying object
};

}  // namespace oneiros::lexical
