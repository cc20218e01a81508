#include "analysis/vocabulary.h"

#include <stdexcept>

namespace oneiros {

TermId Vocabulary::of_surface(std::string_view surface) const {
  return meaning_of(strings_.find(surface));
}

TermId Vocabulary::of_term(std::string_view term) const {
  const std::uint32_t number = strings_.find(term);
  return number == StringTable::kAbsent ? kUnknown : meanings_[number].term;
}

TermId Vocabulary::learn(std::string_view surface, std::string_view term) {
  const std::uint32_t surface_number = enter(surface);
  if (meanings_[surface_number].surface != kUnknown) {
    return meanings_[surface_number].surface;
  }
  const std::uint32_t term_number = enter(term);
  if (meanings_[term_number].term == kUnknown) {
    if (terms_.size() >= kStopWord) {
      throw std::length_error("vocabulary: no term number left");
    }
    terms_.push_back(term_number);
    meanings_[term_number].term = static_cast<TermId>(terms_.size() - 1);
  }
  surfaces_.push_back(surface_number);
  meanings_[surface_number].surface = meanings_[term_number].term;
  return meanings_[term_number].term;
}

std::uint32_t Vocabulary::enter(std::string_view string) {
  if (meanings_.size() == meanings_.capacity()) {  // so that nothing throws once the string is in
    meanings_.reserve(meanings_.size() * 2 + 1);
  }
  const std::uint32_t number = strings_.insert(string);
  if (number == meanings_.size()) {
    meanings_.push_back({kUnknown, kUnknown});
  }
  return number;
}

std::size_t Vocabulary::resident_bytes() const {
  return strings_.resident_bytes() + meanings_.capacity() * sizeof(Meaning) +
         (terms_.capacity() + surfaces_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace oneiros
