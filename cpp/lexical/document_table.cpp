#include "lexical/document_table.h"

#include <cassert>

namespace oneiros::lexical {

DocumentNumber DocumentTable::append(const Document& document) {
  term_bytes_.resize(term_starts_.back());  // what a failed append may have left
  TermId former = 0;
  for (const auto& [term, frequency] : document.terms) {
    TermId difference = term - former;
    for (; difference > kPayload; difference >>= kPayloadBits) {
      term_bytes_.push_back(static_cast<std::uint8_t>((difference & kPayload) | kMore));
    }
    term_bytes_.push_back(static_cast<std::uint8_t>(difference));
    former = term;
  }
  return add_row(document.row, document.length);
}

DocumentNumber DocumentTable::append_from(const DocumentTable& other, DocumentNumber number) {
  term_bytes_.resize(term_starts_.back());
  const std::uint8_t* const bytes = other.term_bytes_.data();
  term_bytes_.insert(term_bytes_.end(), bytes + other.term_starts_[number],
                     bytes + other.term_starts_[number + 1]);
  return add_row(other.rows_[number], other.lengths_[number]);
}

// The row comes last: it alone says how many documents there are.
DocumentNumber DocumentTable::add_row(std::uint32_t row, std::uint32_t length) {
  const std::size_t number = rows_.size();
  lengths_.resize(number);
  lengths_.push_back(length);
  alive_.resize(number / kWordBits + 1);
  term_starts_.resize(number + 1);
  rows_.reserve(number == rows_.capacity() ? 2 * number + 1 : number);
  term_starts_.push_back(term_bytes_.size());
  rows_.push_back(row);
  return static_cast<DocumentNumber>(number);
}

void DocumentTable::revive(DocumentNumber number) {
  assert(!is_alive(number));
  alive_[number / kWordBits] |= std::uint64_t{1} << (number % kWordBits);
  ++live_count_;
}

void DocumentTable::retire(DocumentNumber number) {
  assert(is_alive(number));
  alive_[number / kWordBits] &= ~(std::uint64_t{1} << (number % kWordBits));
  --live_count_;
}

void DocumentTable::shrink_to_fit() {
  rows_.shrink_to_fit();
  lengths_.shrink_to_fit();
  alive_.shrink_to_fit();
  term_bytes_.shrink_to_fit();
  term_starts_.shrink_to_fit();
}

std::size_t DocumentTable::resident_bytes() const {
  return (rows_.capacity() + lengths_.capacity()) * sizeof(std::uint32_t) +
         alive_.capacity() * sizeof(std::uint64_t) + term_bytes_.capacity() +
         term_starts_.capacity() * sizeof(std::size_t);
}

}  // namespace oneiros::lexical
