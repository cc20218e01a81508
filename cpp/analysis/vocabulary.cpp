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
  std::vector<Meaning>& meanings = meanings_.own();
  std::vector<std::uint32_t>& surfaces = surfaces_.own();
  if (meanings[term_number].term == kUnknown) {
    std::vector<std::uint32_t>& terms = terms_.own();
    if (terms.size() >= kStopWord) {
      throw std::length_error("vocabulary: no term number left");
    }
    terms.push_back(term_number);
    meanings[term_number].term = static_cast<TermId>(terms.size() - 1);
  }
  surfaces.push_back(surface_number);
  meanings[surface_number].surface = meanings[term_number].term;
  return meanings[term_number].term;
}

std::uint32_t Vocabulary::enter(std::string_view string) {
  std::vector<Meaning>& meanings = meanings_.own();
  if (meanings.size() == meanings.capacity()) {  // so that nothing throws once the string is in
    meanings.reserve(meanings.size() * 2 + 1);
  }
  const std::uint32_t number = strings_.insert(string);
  if (number == meanings.size()) {
    meanings.push_back({kUnknown, kUnknown});
  }
  return number;
}

std::size_t Vocabulary::resident_bytes() const {
  return strings_.resident_bytes() + meanings_.resident_bytes() + terms_.resident_bytes() +
         surfaces_.resident_bytes();
}

}  // namespace oneiros
