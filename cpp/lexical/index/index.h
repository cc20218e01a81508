// The inverted index over term numbers: segments, global statistics, exact top-k.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lexical/filters/allowed_rows.h"
#include "lexical/filters/row_filters.h"
#include "lexical/index/view.h"
#include "lexical/query/clauses.h"
#include "lexical/search/bm25.h"
#include "lexical/search/statistics.h"
#include "lexical/search/top_k.h"
#include "lexical/search/window_search.h"
#include "lexical/segments/document.h"
#include "lexical/segments/document_table.h"
#include "threads/background_task.h"
#include "threads/fork_hooks.h"
#include "threads/left_right.h"

namespace oneiros::lexical {

// When a growing segment is full, and how many sealed ones of a size make one. A full one is
// searched less fast until it is sealed, and sealing takes as long as it has postings.
struct SegmentLimits {
  std::size_t documents = 8'192;
  std::size_t postings = std::size_t{1} << 18;
  std::size_t fan_in = 8;  // >= 2
  // What is merged has no more together, so that nothing huge is written again and again.
  std::size_t merged_bytes = std::size_t{3} << 29U;
  std::size_t packed_from = DocumentTable::kPackedFrom;  // bytes of texts' words in order
};

// What an index holds in memory, in bytes; what is mapped counts, too.
struct IndexBytes {
  std::size_t postings = 0;     // documents, codes and frequencies
  std::size_t terms = 0;        // where each term's postings are
  std::size_t occurrences = 0;  // texts' words in order
  std::size_t documents = 0;    // rows, lengths and deaths
  std::size_t rows = 0;         // where each row stands, and the filters of late
  std::size_t statistics = 0;
  std::size_t growing = 0;  // segments that are not sealed

  std::size_t total() const {
    return postings + terms + occurrences + documents + rows + statistics + growing;
  }
};

// A query's distinct term and how often the query holds it.
struct QueryTerm {
  TermId term;
  std::uint32_t count;
};

struct Found {
  std::vector<Hit> hits;
  WeighedQuery query;
};

// In order of first appearance.
std::vector<QueryTerm> count_query_terms(std::span<const TermId> terms);

// Results depend on the living documents alone: not on their order of arrival, on what was there
// before, or on how segments were cut.
//
// Thread-safe. Each search sees the documents of one moment; it takes no lock and waits for nobody.
// Writers go one after another. Full segments are sealed, and sealed ones merged, by a thread of
// the background, which holds writers up only for as long as it takes to say where each document
// now stands; a writer who comes faster than it can seal does some of the sealing.
//
// A child of a fork has the index as it was between two writes, and may go on with it.
class Index {
 public:
  explicit Index(const Bm25& bm25, const SegmentLimits& limits = {});
  // Ends a merge that is under way.
  ~Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // Each document takes the place of its row's former one. They become visible together. If memory
  // runs out, the documents up to some point are in, each whole.
  void add(std::span<const Document> documents);

  // False if the row has no document.
  bool remove(std::uint32_t row);

  // Seals the growing segment, merges until few segments are left, and waits for the background to
  // be done with its part.
  void seal();

  // The best k documents that hold one of the terms, in rank order; and the query as it was
  // weighed. REQUIRES: no term twice.
  Found search(std::span<const QueryTerm> query, std::size_t k, const AllowedRows& allowed) const;

  // The query as the documents alive now weigh it. REQUIRES: no term twice.
  WeighedQuery weigh(std::span<const QueryTerm> query) const;

  // The same by clauses.
  Found search(const ClauseQuery& query, std::size_t k, const AllowedRows& allowed) const;
  WeighedQuery weigh(const ClauseQuery& query) const;
  // The rows that permitted_rows() tells of.
  std::vector<std::uint8_t> permitted(const ClauseQuery& query, const AllowedRows& allowed) const;

  // Writes the score that a search of the same weighing gives each row's document, to the bit; 0
  // where it does not match. REQUIRES: rows.size() == scores.size().
  void score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                  std::span<double> scores) const;

  // The documents of this moment. What it holds of segments that were merged since is given back
  // when it goes.
  View view() const;

  // The documents of this moment, none of them in a segment that still grows; and puts them into a
  // snapshot, whatever is written meanwhile.
  View frozen_view();
  void write(const View& documents, SnapshotWriter& snapshot) const;
  // Takes over what another index wrote, of any Bm25. Throws SnapshotDamaged where that makes no
  // sense. REQUIRES: it is new, and goes if this throws.
  void read(const SnapshotReader& snapshot, std::size_t term_count, std::size_t threads);

  bool contains(std::uint32_t row) const;
  std::size_t document_count() const;
  std::size_t segment_count() const;  // the growing one too, unless empty
  std::size_t resident_bytes() const { return bytes().total(); }
  IndexBytes bytes() const;  // waits for writers
  // Why the last merge in the background came to nothing; empty if it did not. All was as before
  // it, and the next full segment tries again.
  std::string merge_error() const;
  // Postings written by sealing and merging, since the index began.
  std::uint64_t rewritten_posting_count() const { return rewritten_posting_count_.load(); }

 private:
  struct Published {
    View view;
    Statistics statistics;
  };
  struct Moment {
    View view;
    WeighedQuery query;
  };
  // Segments that become one, and their documents when that began.
  struct Merge {
    std::uint32_t serial = 0;
    std::vector<std::shared_ptr<const Segment>> segments;
    std::vector<SegmentView> sources;
  };

  Moment weighed(std::span<const QueryTerm> query) const;
  Moment weighed(const ClauseQuery& query) const;
  // Adds to each score that of the document at its location, where it is one of the view's.
  void score_locations(const View& now, const WeighedQuery& query,
                       std::span<const Location> locations, std::span<double> scores) const;
  Found search(Moment moment, std::size_t k, const AllowedRows& allowed) const;

  // All of these REQUIRE that the caller holds writer_mutex_.
  const View& latest() const { return published_.latest().view; }
  const Segments& segments() const { return *latest().segments; }
  Location locate_living(std::uint32_t row) const;  // those not published yet, too
  void insert(const Document& document);
  void reserve_terms(const Document& document);
  void publish(std::span<const Document> documents) noexcept;
  void publish(const std::shared_ptr<const Segments>& segments) noexcept;
  void die(Location location) noexcept;
  static void take_back(Statistics& statistics, const Segments& segments,
                        Location location) noexcept;
  void freeze();
  std::optional<Merge> claim_seal();
  // `is_at_rest`: also what is worth it only if nothing more is written soon.
  std::optional<Merge> claim_merge(bool is_at_rest);
  Merge claim(std::vector<std::shared_ptr<const Segment>> segments);
  bool is_claimed(const Segment& segment) const;
  void install(const Merge& merge, std::shared_ptr<SealedSegment> merged,
               std::span<const std::vector<DocumentNumber>> renumbered);

  // And these that the caller does not.
  void make_room();
  void run(const Merge& merge, const std::atomic<bool>* is_cancelled);
  void release(const Merge& merge);
  void merge_in_background(const std::atomic<bool>& is_cancelled);
  // If as many bytes of segments were merged since the last time.
  void give_back(std::size_t least) noexcept;

  const Bm25 bm25_;
  const SegmentLimits limits_;

  LeftRight<Published> published_;
  mutable RowFilters filters_;
  std::atomic<std::uint64_t> rewritten_posting_count_ = 0;

  mutable std::mutex writer_mutex_;  // guards all writing, and what follows
  std::uint32_t next_serial_ = 1;
  std::size_t term_room_ = 0;           // both copies of the statistics have it
  std::size_t frequent_room_ = 0;       // and this, for frequent terms
  std::size_t becoming_frequent_ = 0;   // at most so many terms of documents not published yet
  std::vector<std::uint32_t> claimed_;  // the serials of segments that are being merged
  bool is_merge_due_ = false;           // documents died, and a segment of them is worth rewriting
  std::string merge_error_;

  std::atomic<std::uint32_t> ended_merges_ = 0;
  std::atomic<std::size_t> freed_bytes_ =
      0;  // of segments merged since what they had was given back
  BackgroundTask background_;
  ForkHooks fork_hooks_;  // last: all the above is there as long as a fork may ask for it
};

}  // namespace oneiros::lexical
