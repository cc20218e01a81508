// Surfaces and terms share one string table, because most strings are both. As long as every
// surface is its own term, no further memory is used; from the first stem on, an array of meanings
// is kept.
#include "analysis/vocabulary.h"

#include <stdexcept>

namespace oneiros {

TermId Vocabulary::of_surface(std::string_view surface) const {
  return meaning_of(strings_.find(surface));
}

TermId Vocabulary::of_term(std::string_view term) const {
  const std::uint32_t number = strings_.find(term);
  return number == StringTable::kAbsent ? kUnknown : own_term_of(number);
}

TermId Vocabulary::learn(std::string_view surface, std::string_view term) {
  if (surface == term && strings_.size() == plain_count_) {
    require_number();
    const std::uint32_t number = strings_.insert(surface);
    plain_count_ += number == plain_count_ ? 1 : 0;
    return number;
  }
  const std::uint32_t surface_number = enter(surface);
  if (const TermId known = meaning_of(surface_number); known != kUnknown) {
    return known;
  }
  const TermId number = term_at(enter(term));
  surfaces_.own().push_back(surface_number);
  meanings_.own()[surface_number - plain_count_].surface = number;
  return number;
}

void Vocabulary::learn_term(std::string_view term) { term_at(enter(term)); }

TermId Vocabulary::term_at(std::uint32_t number) {
  TermId term = own_term_of(number);
  if (term == kUnknown) {
    require_number();
    terms_.own().push_back(number);
    term = static_cast<TermId>(term_count() - 1);
    meanings_.own()[number - plain_count_].term = term;
  }
  return term;
}

void Vocabulary::require_number() const {
  if (term_count() >= kStopWord) {
    throw std::length_error("vocabulary: no term number left");
  }
}

std::uint32_t Vocabulary::enter(std::string_view string) {
  std::vector<Meaning>& meanings = meanings_.own();
  if (meanings.size() == meanings.capacity()) {  // so that nothing throws once the string is in
    meanings.reserve(meanings.size() * 2 + 1);
  }
  const std::uint32_t number = strings_.insert(string);
  if (number == plain_count_ + meanings.size()) {
    meanings.push_back({kUnknown, kUnknown});
  }
  return number;
}

std::size_t Vocabulary::resident_bytes() const {
  return strings_.resident_bytes() + meanings_.resident_bytes() + terms_.resident_bytes() +
         surfaces_.resident_bytes();
}

}  // namespace oneiros
