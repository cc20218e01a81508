#include "lexical/document_table.h"

#include <cassert>

namespace oneiros::lexical {

DocumentNumber DocumentTable::append(const Document& document) {
  term_bytes_.resize(term_starts_[size()]);  // what a failed append may have left
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
  term_bytes_.resize(term_starts_[size()]);
  const std::uint8_t* const bytes = other.term_bytes_.data();
  term_bytes_.insert(term_bytes_.end(), bytes + other.term_starts_[number],
                     bytes + other.term_starts_[number + 1]);
  return add_row(other.rows()[number], other.lengths()[number]);
}

// The row comes last: it alone says how many documents there are.
DocumentNumber DocumentTable::add_row(std::uint32_t row, std::uint32_t length) {
  const std::size_t number = rows_.size();
  term_starts_.resize(number + 1);  // what a failed append may have left
  rows_.reserve_ahead(number + 1);
  lengths_.reserve_ahead(number + 1);
  term_starts_.push_back(term_bytes_.size());
  lengths_.push_back(length);
  rows_.push_back(row);
  return static_cast<DocumentNumber>(number);
}

void DocumentTable::die(DocumentNumber number, Epoch epoch) noexcept {
  assert(death(number) == 0);
  deaths_.set(number, epoch);
  ++dead_count_;
}

void DocumentTable::reserve(std::size_t document_count) {
  rows_.reserve(document_count);
  lengths_.reserve(document_count);
  term_starts_.reserve(document_count + 1);
}

void DocumentTable::shrink_to_fit() { term_bytes_.shrink_to_fit(); }

std::size_t DocumentTable::resident_bytes() const {
  return rows_.resident_bytes() + lengths_.resident_bytes() + deaths_.resident_bytes() +
         term_bytes_.capacity() + term_starts_.capacity() * sizeof(std::size_t);
}

}  // namespace oneiros::lexical
