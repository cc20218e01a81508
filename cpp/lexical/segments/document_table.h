// The documents of a segment: row, length, time of death, and terms in text order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lexical/filters/documents_by_rank.h"
#include "lexical/index/merge_policy.h"
#include "lexical/postings/mutable_array.h"
#include "lexical/postings/occurrence_bytes.h"
#include "lexical/postings/packed_occurrences.h"
#include "lexical/postings/postings.h"
#include "lexical/postings/sparse_array.h"
#include "lexical/segments/document.h"
#include "lexical/segments/document_lengths.h"
#include "lexical/segments/document_rows.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"

namespace oneiros::lexical {

// The number of a published state. A document that dies in an epoch is alive in all earlier ones.
using Epoch = std::uint64_t;

// Append-only except for deaths. One thread writes; any number of threads may read meanwhile.
class DocumentTable {
 public:
  // Below this size, occurrences are not worth a code of their own.
  static constexpr std::size_t kPackedFrom = std::size_t{2} << 20U;

  // Appends a document and returns its number. Strong exception guarantee.
  DocumentNumber append(const Document& document);
  // Copies documents of other segments, in this order, into an empty table that takes no others.
  // find() requires that they are ordered by length and then by row, each row once.
  struct Origin {
    const DocumentTable* table;
    DocumentNumber number;
  };
  // Occurrences of about `packed_from` bytes or more are compressed.
  void copy(std::span<const Origin> origins, const std::atomic<bool>* is_cancelled = nullptr,
            std::size_t packed_from = kPackedFrom);

  // Makes room, so that die() cannot fail.
  void reserve_death(DocumentNumber number) { deaths_.reserve(number); }
  // REQUIRES: the document is alive; reserve_death(number) was called; epoch > 0.
  void die(DocumentNumber number, Epoch epoch) noexcept;
  // The epoch of death, 0 while it is alive.
  Epoch death(DocumentNumber number) const { return deaths_.get(number); }
  bool is_alive_at(DocumentNumber number, Epoch epoch) const {
    const Epoch death = deaths_.get(number);
    return death == 0 || death > epoch;
  }

  DocumentRows rows() const {
    return runs_.empty() ? DocumentRows(rows_.elements()) : packed_rows_.rows();
  }
  // The document of a row, in a copied table; kNoDocument if there is none.
  DocumentNumber find(std::uint32_t row) const {
    const std::size_t rank = packed_rows_.rank_of(row);
    if (rank == packed_rows_.size()) {
      return kNoDocument;
    }
    const DocumentNumber* const by_rank = by_rank_.for_asked(1, packed_rows_, runs_);
    return by_rank == nullptr ? packed_rows_.at(rank, runs_) : by_rank[rank];
  }
  // Prefetches what find() reads of the row, if it is an array.
  void prefetch(std::uint32_t row) const {
    const DocumentNumber* const by_rank = by_rank_.if_made();
    if (by_rank != nullptr) {
      __builtin_prefetch(by_rank + packed_rows_.rank_of(row));
    }
  }
  // The documents of those rows that have one, in arbitrary order. REQUIRES: ascending rows.
  std::vector<DocumentNumber> find_each(std::span<const std::uint32_t> rows) const {
    return packed_rows_.find_each(rows, runs_,
                                  by_rank_.for_asked(rows.size(), packed_rows_, runs_));
  }
  // If the rows are consecutive: the first row, and the documents by row. Empty if they have gaps
  // or if the order is not built yet. Records that `count` rows are looked up.
  struct CountedUp {
    std::uint32_t first_row = 0;
    std::span<const DocumentNumber> documents;
  };
  CountedUp counted_up(std::size_t count) const {
    if (!packed_rows_.count_up()) {
      return {};
    }
    const DocumentNumber* const by_rank = by_rank_.for_asked(count, packed_rows_, runs_);
    return by_rank == nullptr ? CountedUp{}
                              : CountedUp{.first_row = packed_rows_.first_row(),
                                          .documents = {by_rank, packed_rows_.size()}};
  }
  DocumentLengths lengths() const {
    return runs_.empty() ? DocumentLengths(lengths_.elements()) : DocumentLengths(runs_, size());
  }

  std::size_t size() const { return runs_.empty() ? rows_.size() : packed_rows_.size(); }
  // Includes all documents dead in any epoch known to a reader, and possibly later deaths.
  std::size_t dead_count() const { return dead_count_.load(std::memory_order_relaxed); }
  // The latest epoch in which a document died, 0 if none has. Views of that epoch and of later ones
  // up to the next death see the same documents.
  Epoch last_death() const { return last_death_.load(std::memory_order_acquire); }
  SegmentSize extent() const {  // writer thread only
    return {.live_count = size() - dead_count(), .dead_count = dead_count()};
  }
  std::size_t resident_bytes() const;    // writer thread only
  std::size_t occurrence_bytes() const;  // the part of resident_bytes() for occurrences
  std::size_t row_bytes() const {        // the part that maps rows to documents
    return packed_rows_.row_bytes() + by_rank_.resident_bytes();
  }

  // Writes the sections of segment `number`, with the documents dead at the epoch, and reads them
  // into an empty table, in which those are dead from epoch 1 on. A table that was read must pass
  // check() before any other use.
  void write(SnapshotWriter& snapshot, std::uint32_t number, Epoch epoch) const;
  void read(const SnapshotReader& snapshot, std::uint32_t number);

  // Throws SnapshotDamaged unless each document's occurrences can be decoded, their terms are below
  // `term_count`, and documents are ordered by length.
  void check(std::size_t term_count, std::size_t threads) const;

  // The bytes that OccurrenceBytes wrote. Valid as long as the table and `scratch`, into which they
  // are unpacked if necessary.
  std::span<const std::uint8_t> occurrences(DocumentNumber number,
                                            std::vector<std::uint8_t>& scratch) const;

  // Prefetch what leads to the occurrences of a document, and then, which reads that, their start.
  void prefetch_sizes(DocumentNumber number) const;
  void prefetch_occurrences(DocumentNumber number) const;

  // Calls visit(term) for each distinct term of the document, in order of first appearance.
  template <typename Visit>
  void for_each_term(DocumentNumber number, Visit visit) const {
    for_each_code(number, [&visit](std::uint64_t code, std::uint64_t /*step*/) {
      if (code > 1 && !is_repeat(code)) {
        visit(term_of(code));
      }
    });
  }

 private:
  static std::size_t stored_size(std::span<const std::uint8_t> occurrences);
  // REQUIRES: there is room.
  void append_occurrences(std::span<const std::uint8_t> occurrences) noexcept;
  std::span<const std::uint8_t> plain_occurrences(DocumentNumber number) const;
  // Calls visit(code, step) for each code that OccurrenceBytes wrote.
  template <typename Visit>
  void for_each_code(DocumentNumber number, Visit visit) const {
    if (packed_.is_used()) {
      packed_.for_each_code(number, visit);
    } else {
      for_each_written(plain_occurrences(number), visit);
    }
  }
  std::size_t mean_occurrence_bytes() const;  // estimate per document, unpacked
  void copy_occurrences(std::span<const Origin> origins, const std::atomic<bool>* is_cancelled,
                        std::size_t packed_from);

  // Documents that were appended:
  MutableArray<std::uint32_t> rows_;
  MutableArray<std::uint32_t> lengths_;
  // Documents that were copied:
  PackedRows packed_rows_;
  mutable DocumentsByRank by_rank_;
  std::vector<LengthRun> runs_;
  SparseArray<Epoch> deaths_;
  // Occurrences of all documents one after the other: the start of each kStride-th document, and
  // each document's size in bytes. kLong: the size is in the eight bytes before it.
  static constexpr std::size_t kStride = 64;
  static constexpr std::uint16_t kLong = std::numeric_limits<std::uint16_t>::max();
  using LongSize = std::uint64_t;
  MutableArray<std::uint8_t> occurrences_;
  MutableArray<std::uint64_t> starts_;
  MutableArray<std::uint16_t> sizes_;
  PackedOccurrences packed_;                 // replaces the three above for large copied tables
  std::atomic<std::size_t> dead_count_ = 0;  // counted by the writer
  std::atomic<Epoch> last_death_ = 0;
};

}  // namespace oneiros::lexical
