// The documents of one segment: row, length, when they died, and their terms in text order.
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

// Counts what is published: what dies in one epoch is there in all earlier ones.
using Epoch = std::uint64_t;

// Append-only but for the epochs in which documents die. One thread writes; any number may read
// meanwhile.
class DocumentTable {
 public:
  // Fewer bytes of occurrences than these are not worth a code of their own.
  static constexpr std::size_t kPackedFrom = std::size_t{2} << 20U;

  // The number of the new document. If memory runs out, nothing has changed.
  DocumentNumber append(const Document& document);
  // Copies documents of other segments, in this order: into an empty table that takes no others.
  // find() asks that they stand by length and, of one length, by row, each row once.
  struct Origin {
    const DocumentTable* table;
    DocumentNumber number;
  };
  // Occurrences of `packed_from` bytes or more, roughly, get a code of their own.
  void copy(std::span<const Origin> origins, const std::atomic<bool>* is_cancelled = nullptr,
            std::size_t packed_from = kPackedFrom);

  // Makes room, so that die() cannot fail.
  void reserve_death(DocumentNumber number) { deaths_.reserve(number); }
  // REQUIRES: it lives; reserve_death(number) was called; epoch > 0.
  void die(DocumentNumber number, Epoch epoch) noexcept;
  // 0 while it lives.
  Epoch death(DocumentNumber number) const { return deaths_.get(number); }
  bool is_alive_at(DocumentNumber number, Epoch epoch) const {
    const Epoch death = deaths_.get(number);
    return death == 0 || death > epoch;
  }

  DocumentRows rows() const {
    return runs_.empty() ? DocumentRows(rows_.elements()) : packed_rows_.rows();
  }
  // The row's document, of those that were copied; kNoDocument if there is none.
  DocumentNumber find(std::uint32_t row) const { return packed_rows_.find(row, runs_); }
  // Those of the rows, which ascend, that have one; in no order.
  std::vector<DocumentNumber> find_each(std::span<const std::uint32_t> rows) const {
    return packed_rows_.find_each(rows, runs_,
                                  by_rank_.for_asked(rows.size(), packed_rows_, runs_));
  }
  // The documents of rows that count up from the one told of, as those ascend; none if the rows
  // have gaps, or if that is not known yet. Counts that `count` rows more are asked for.
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
  // All that died up to any epoch that a reader knows, and some that died later.
  std::size_t dead_count() const { return dead_count_.load(std::memory_order_relaxed); }
  SegmentSize extent() const {  // for the writer
    return {.live_count = size() - dead_count(), .dead_count = dead_count()};
  }
  std::size_t resident_bytes() const;    // for the writer
  std::size_t occurrence_bytes() const;  // what the occurrences have of that
  std::size_t row_bytes() const {        // what leads from rows there
    return packed_rows_.row_bytes() + by_rank_.resident_bytes();
  }

  // The sections of the segment `number`, with the documents that are dead at the epoch; and back,
  // into an empty table, where those are dead from the epoch 1 on. What was read is neither safe
  // nor right before check() has returned.
  void write(SnapshotWriter& snapshot, std::uint32_t number, Epoch epoch) const;
  void read(const SnapshotReader& snapshot, std::uint32_t number);

  // Throws SnapshotDamaged unless each document's occurrences can be read, their terms are below
  // `term_count`, and the documents stand by length.
  void check(std::size_t term_count, std::size_t threads) const;

  // As OccurrenceBytes wrote them. Valid as long as the table and `scratch`, where they are
  // unpacked if need be.
  std::span<const std::uint8_t> occurrences(DocumentNumber number,
                                            std::vector<std::uint8_t>& scratch) const;

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
  // Calls visit(code, step) for what OccurrenceBytes wrote.
  template <typename Visit>
  void for_each_code(DocumentNumber number, Visit visit) const {
    if (packed_.is_used()) {
      packed_.for_each_code(number, visit);
    } else {
      for_each_written(plain_occurrences(number), visit);
    }
  }
  std::size_t mean_occurrence_bytes() const;  // of a document, unpacked, or about so many
  void copy_occurrences(std::span<const Origin> origins, const std::atomic<bool>* is_cancelled,
                        std::size_t packed_from);

  // None of documents that were copied,
  MutableArray<std::uint32_t> rows_;
  MutableArray<std::uint32_t> lengths_;
  // which have these.
  PackedRows packed_rows_;
  mutable DocumentsByRank by_rank_;
  std::vector<LengthRun> runs_;
  SparseArray<Epoch> deaths_;
  // Documents' occurrences one after the other: where those of each kStride-th document begin, and
  // how many bytes each has. kLong: eight bytes before them say how many.
  static constexpr std::size_t kStride = 64;
  static constexpr std::uint16_t kLong = std::numeric_limits<std::uint16_t>::max();
  using LongSize = std::uint64_t;
  MutableArray<std::uint8_t> occurrences_;
  MutableArray<std::uint64_t> starts_;
  MutableArray<std::uint16_t> sizes_;
  PackedOccurrences packed_;                 // instead of those three, where many were copied
  std::atomic<std::size_t> dead_count_ = 0;  // by the writer
};

}  // namespace oneiros::lexical
