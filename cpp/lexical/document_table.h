// The documents of one segment: row, length, when they died, and the terms they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/document.h"
#include "lexical/growing_array.h"
#include "lexical/merge_policy.h"
#include "lexical/postings.h"
#include "lexical/sparse_array.h"

namespace oneiros::lexical {

// Counts what is published: what dies in one epoch is there in all earlier ones.
using Epoch = std::uint64_t;

// Append-only but for the epochs in which documents die. One thread writes; any number may read
// rows, lengths and deaths meanwhile.
class DocumentTable {
 public:
  // The number of the new document. If memory runs out, nothing has changed.
  DocumentNumber append(const Document& document);
  // The same for document `number` of another segment.
  DocumentNumber append_from(const DocumentTable& other, DocumentNumber number);

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

  std::span<const std::uint32_t> rows() const { return rows_.elements(); }
  std::span<const std::uint32_t> lengths() const { return lengths_.elements(); }

  std::size_t size() const { return rows_.size(); }
  SegmentSize extent() const {  // for the writer
    return {.live_count = size() - dead_count_, .dead_count = dead_count_};
  }
  void reserve(std::size_t document_count);
  void shrink_to_fit();
  std::size_t resident_bytes() const;  // for the writer

  // Calls visit(term) for each distinct term of the document, ascending.
  template <typename Visit>
  void for_each_term(DocumentNumber number, Visit visit) const {
    std::size_t at = term_starts_[number];
    TermId term = 0;
    while (at != term_starts_[number + 1]) {
      TermId difference = 0;
      unsigned shift = 0;
      std::uint8_t byte = 0;
      do {
        byte = term_bytes_[at++];
        difference |= static_cast<TermId>(byte & kPayload) << shift;
        shift += kPayloadBits;
      } while ((byte & kMore) != 0);
      term += difference;
      visit(term);
    }
  }

 private:
  static constexpr std::uint8_t kMore = 0x80;
  static constexpr std::uint8_t kPayload = 0x7F;
  static constexpr unsigned kPayloadBits = 7;

  DocumentNumber add_row(std::uint32_t row, std::uint32_t length);

  GrowingArray<std::uint32_t> rows_;
  GrowingArray<std::uint32_t> lengths_;
  SparseArray<Epoch> deaths_;
  // Differences of the ascending terms, 7 bits a byte: what a deletion takes back from df.
  std::vector<std::uint8_t> term_bytes_;
  std::vector<std::size_t> term_starts_{0};
  std::size_t dead_count_ = 0;
};

}  // namespace oneiros::lexical
