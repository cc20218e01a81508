// The rows of one segment's documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/postings/packed_numbers.h"
#include "lexical/postings/postings.h"
#include "lexical/segments/document_lengths.h"

namespace oneiros::lexical {

// By document, each as it is or packed. Borrows them.
class DocumentRows {
 public:
  explicit DocumentRows(std::span<const std::uint32_t> each) : each_(each) {}
  explicit DocumentRows(const PackedNumbers& packed) : packed_(&packed) {}

  std::uint32_t operator[](DocumentNumber document) const {
    return packed_ == nullptr ? each_[document] : (*packed_)[document];
  }
  // Asks the memory for the document's.
  void prefetch(DocumentNumber document) const {
    if (packed_ != nullptr) {
      packed_->prefetch(document);
    }
  }

 private:
  std::span<const std::uint32_t> each_;
  const PackedNumbers* packed_ = nullptr;
};

// Rows to documents and back, of documents by length and, where they are as long, by row: the runs
// of a length are searched for a row, so that no document's number need be kept.
class PackedRows {
 public:
  PackedRows() = default;  // none
  // `rows` by document. REQUIRES: no row twice; the runs are those of the documents.
  PackedRows(std::span<const std::uint32_t> rows, std::span<const LengthRun> runs);

  std::size_t size() const { return by_document_.size(); }
  DocumentRows rows() const { return DocumentRows(by_document_); }
  // kNoDocument if none has the row. REQUIRES: the runs that it was made with.
  DocumentNumber find(std::uint32_t row, std::span<const LengthRun> runs) const;
  // The documents of those rows, which ascend, that have one; in no order. Quick with `by_rank`,
  // where that is known: see documents_by_rank(). REQUIRES: the runs that it was made with.
  std::vector<DocumentNumber> find_each(std::span<const std::uint32_t> rows,
                                        std::span<const LengthRun> runs,
                                        const DocumentNumber* by_rank = nullptr) const;
  // Whether the rows count up from the first one, without a gap.
  bool count_up() const { return size() != 0 && gaps_[size() - 1] == gaps_.least_of(0); }
  // REQUIRES: size() > 0.
  std::uint32_t first_row() const { return gaps_.least_of(0); }
  // All documents, as their rows ascend. REQUIRES: the runs that it was made with.
  std::vector<DocumentNumber> documents_by_rank(std::span<const LengthRun> runs) const;

  std::size_t document_bytes() const { return by_document_.resident_bytes(); }
  std::size_t row_bytes() const { return gaps_.resident_bytes() + runs_.resident_bytes(); }

  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static PackedRows read(const SnapshotReader& snapshot, std::uint32_t number);
  // Throws SnapshotDamaged unless it can be asked for any row and finds each document by its own.
  void check(std::span<const LengthRun> runs) const;

 private:
  // A document of a run, and how many rows of all documents are below its own.
  struct Place {
    DocumentNumber document;
    std::size_t rank;
  };

  // How many documents have a row below. REQUIRES: size() > 0. Quick where that is near `guess`.
  std::size_t rank_of(std::uint32_t row, std::size_t guess) const;
  std::size_t end_of(std::size_t run, std::span<const LengthRun> runs) const {
    return run + 1 < runs.size() ? runs[run + 1].first : size();
  }
  // Where the run may have the document of the rank.
  std::size_t guess_in_run(std::size_t rank, const Place& from, std::size_t run,
                           std::span<const LengthRun> runs) const;
  // The document of the row, of the run, where `from` is no further; kNoDocument if there is none.
  DocumentNumber find_in_run(std::uint32_t row, std::size_t rank, const Place& from,
                             std::size_t run, std::span<const LengthRun> runs) const;

  PackedNumbers by_document_;
  // By rank among the rows: how many rows below have no document here, and which run has the
  // document.
  PackedNumbers gaps_;
  PackedNumbers runs_;
};

}  // namespace oneiros::lexical
