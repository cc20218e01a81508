// The documents of one segment: row, length, whether they live, and the terms they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexical/document.h"
#include "lexical/postings.h"

namespace oneiros::lexical {

// Append-only but for the bit that says whether a document lives. Readers may share it; a writer
// needs it alone.
class DocumentTable {
 public:
  // The number of the new document. It is not alive yet.
  DocumentNumber append(const Document& document);
  // The same for document `number` of another segment.
  DocumentNumber append_from(const DocumentTable& other, DocumentNumber number);

  void revive(DocumentNumber number);  // REQUIRES: not alive
  void retire(DocumentNumber number);  // REQUIRES: alive
  bool is_alive(DocumentNumber number) const {
    return ((alive_[number / kWordBits] >> (number % kWordBits)) & 1U) != 0;
  }

  // Bit d % 64 of word d / 64 says whether document d lives.
  std::span<const std::uint64_t> alive_words() const { return alive_; }
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const std::uint32_t> lengths() const { return lengths_; }

  std::size_t size() const { return rows_.size(); }
  std::size_t live_count() const { return live_count_; }
  void shrink_to_fit();
  std::size_t resident_bytes() const;

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
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::uint8_t kMore = 0x80;
  static constexpr std::uint8_t kPayload = 0x7F;
  static constexpr unsigned kPayloadBits = 7;

  DocumentNumber add_row(std::uint32_t row, std::uint32_t length);

  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> alive_;
  // Differences of the ascending terms, 7 bits a byte: what a deletion takes back from df.
  std::vector<std::uint8_t> term_bytes_;
  std::vector<std::size_t> term_starts_{0};
  std::size_t live_count_ = 0;
};

}  // namespace oneiros::lexical
