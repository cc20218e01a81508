// The inverted index over term numbers: segments, global statistics, exact top-k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lexical/allowed_rows.h"
#include "lexical/bm25.h"
#include "lexical/document.h"
#include "lexical/growing_segment.h"
#include "lexical/row_map.h"
#include "lexical/sealed_segment.h"
#include "lexical/state_lock.h"
#include "lexical/statistics.h"
#include "lexical/top_k.h"
#include "lexical/window_search.h"

namespace oneiros::lexical {

// When a growing segment is sealed, and how many sealed ones of a size make one.
struct SegmentLimits {
  std::size_t documents = 65'536;
  std::size_t postings = std::size_t{1} << 20;
  std::size_t fan_in = 8;  // >= 2
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
// before, or on how segments were cut. Thread-safe: searches run side by side, and wait for a
// writer only while it adds its batch, not while it seals or merges.
class Index {
 public:
  explicit Index(const Bm25& bm25, const SegmentLimits& limits = {});

  // Each document takes the place of its row's former one. They become visible together. If memory
  // runs out, the documents up to some point are in, each whole.
  void add(std::span<const Document> documents);

  // False if the row has no document.
  bool remove(std::uint32_t row);

  // Seals the growing segment and merges what the policy says.
  void seal();

  // The best k documents that hold one of the terms, in rank order; and the query as it was
  // weighed. REQUIRES: no term twice.
  Found search(std::span<const QueryTerm> query, std::size_t k, const AllowedRows& allowed) const;

  // The query as the documents alive now weigh it. REQUIRES: no term twice.
  WeighedQuery weigh(std::span<const QueryTerm> query) const;

  // Writes the score that a search of the same weighing gives each row's document, to the bit; 0
  // where it holds none of the terms. REQUIRES: rows.size() == scores.size().
  void score_rows(const WeighedQuery& query, std::span<const std::uint32_t> rows,
                  std::span<double> scores) const;

  bool contains(std::uint32_t row) const;
  std::size_t document_count() const;
  std::size_t segment_count() const;  // sealed ones, and the growing one unless empty
  std::size_t resident_bytes() const;

 private:
  // Changed by swapping in another: a writer may not even enlarge the one that readers look at.
  using SealedSegments = std::vector<std::shared_ptr<SealedSegment>>;

  // All of these are called by the one writer.
  void insert(const Document& document);
  void retire(const Location& location);
  Segment& segment(std::uint32_t serial);
  void relocate(const Segment& segment) noexcept;
  void seal_growing();
  void merge_sealed();
  void merge(std::span<const std::size_t> places);
  void announce(const std::shared_ptr<SealedSegment>& segment);

  // REQUIRES: state_lock_ is held.
  WeighedQuery weighed(std::span<const QueryTerm> query) const;
  SegmentView view_of(const Segment& segment) const;
  std::vector<SegmentView> segments() const;

  const Bm25 bm25_;
  const SegmentLimits limits_;

  // A writer holds writer_mutex_ throughout, so it alone may read without state_lock_; it takes
  // state_lock_ for as long as it changes what readers see.
  mutable std::mutex writer_mutex_;
  mutable StateLock state_lock_;
  std::uint32_t next_serial_ = 1;  // above growing_, which takes the first
  Epoch epoch_ = 0;
  Statistics statistics_;
  SealedSegments sealed_;
  std::unique_ptr<GrowingSegment> growing_;
  // Takes the place of others, which hold the same documents, as soon as all rows point to it.
  std::shared_ptr<SealedSegment> incoming_;
  RowMap rows_;
};

}  // namespace oneiros::lexical
