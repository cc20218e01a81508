// The rows of a segment's documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings/packed_numbers.h"
#include "lexical/postings/postings.h"
#include "lexical/segments/document_lengths.h"

namespace oneiros::lexical {

// A view of rows by document, plain or packed. Does not own them.
class DocumentRows {
 public:
  explicit DocumentRows(std::span<const std::uint32_t> each) : each_(each) {}
  explicit DocumentRows(const PackedNumbers& packed) : packed_(&packed) {}

  std::uint32_t operator[](DocumentNumber document) const {
    return packed_ == nullptr ? each_[document] : (*packed_)[document];
  }
  // Prefetches the row of a document.
  void prefetch(DocumentNumber document) const {
    if (packed_ != nullptr) {
      packed_->prefetch(document);
    }
  }

 private:
  std::span<const std::uint32_t> each_;
  const PackedNumbers* packed_ = nullptr;
};

// Rows by document and documents by row, for documents ordered by length and then by row. A row is
// found by its rank among all rows and the run of equal length stored for it, so no document
// numbers are stored. Immutable once built.
class PackedRows {
 public:
  PackedRows() = default;  // empty
  // `rows` by document. REQUIRES: distinct rows; `runs` belong to the documents.
  PackedRows(std::span<const std::uint32_t> rows, std::span<const LengthRun> runs);

  std::size_t size() const { return by_document_.size(); }
  DocumentRows rows() const { return DocumentRows(by_document_); }
  // The number of smaller rows; size() if the row has no document.
  std::size_t rank_of(std::uint32_t row) const;
  // The document of the row of a rank. REQUIRES: rank < size(); the runs of the constructor.
  DocumentNumber at(std::size_t rank, std::span<const LengthRun> runs) const;
  // The documents of those rows that have one, in arbitrary order. Fast if `by_rank`, the result of
  // documents_by_rank(), is known. REQUIRES: ascending rows; the runs of the constructor.
  std::vector<DocumentNumber> find_each(std::span<const std::uint32_t> rows,
                                        std::span<const LengthRun> runs,
                                        const DocumentNumber* by_rank = nullptr) const;
  // True if the rows are consecutive numbers.
  bool count_up() const { return size() != 0 && gaps_[size() - 1] == gaps_.least_of(0); }
  // REQUIRES: size() > 0.
  std::uint32_t first_row() const { return gaps_.least_of(0); }
  // All documents in the order of their rows. REQUIRES: the runs of the constructor.
  std::vector<DocumentNumber> documents_by_rank(std::span<const LengthRun> runs) const;

  std::size_t document_bytes() const { return by_document_.resident_bytes(); }
  std::size_t row_bytes() const { return gaps_.resident_bytes() + runs_.resident_bytes(); }

  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static PackedRows read(const SnapshotReader& snapshot, std::uint32_t number);
  // Throws SnapshotDamaged unless every look-up stays in bounds and finds each document by its row.
  void check(std::span<const LengthRun> runs) const;

 private:
  // A document of a run, and the number of rows of the segment below its own.
  struct Place {
    DocumentNumber document;
    std::size_t rank;
  };

  // The number of documents with a smaller row. REQUIRES: size() > 0. Fast near `guess`.
  std::size_t rank_of(std::uint32_t row, std::size_t guess) const;
  std::size_t end_of(std::size_t run, std::span<const LengthRun> runs) const {
    return run + 1 < runs.size() ? runs[run + 1].first : size();
  }
  // A guess where the run has the document of that rank.
  std::size_t guess_in_run(std::size_t rank, const Place& from, std::size_t run,
                           std::span<const LengthRun> runs) const;
  // The run's document of the row, at or after `from`; kNoDocument if there is none.
  DocumentNumber find_in_run(std::uint32_t row, std::size_t rank, const Place& from,
                             std::size_t run, std::span<const LengthRun> runs) const;

  PackedNumbers by_document_;
  // By rank among the rows: the number of smaller rows without a document here, and the run of the
  // document.
  PackedNumbers gaps_;
  PackedNumbers runs_;
};

}  // namespace oneiros::lexical
