// The vocabulary: the term of each surface form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/string_table.h"

namespace oneiros {

// Concurrent reads are allowed; learn() needs exclusive access. Nothing is ever removed.
class Vocabulary {
 public:
  static constexpr TermId kUnknown = kUnknownTerm;
  static constexpr TermId kStopWord = 0xFFFFFFFE;

  // Makes a surface a stop word: known, without a term. REQUIRES: the surface is unknown.
  void add_stop_word(std::string_view surface) {
    const std::uint32_t number = enter(surface);
    meanings_.own()[number - plain_count_].surface = kStopWord;
  }

  // The term of a surface, kStopWord, or kUnknown. One look-up in the string table.
  TermId of_surface(std::string_view surface) const;
  // The number of a term by its own spelling, or kUnknown.
  TermId of_term(std::string_view term) const;

  // Sets terms[i] to of_surface(spell(i)). Look-ups are interleaved, so that their cache misses,
  // most of the cost, overlap.
  template <typename Spell>
  void of_surfaces(Spell spell, std::span<TermId> terms) const;

  // Assigns `term` to `surface`; both are added if new. An existing assignment is kept.
  TermId learn(std::string_view surface, std::string_view term);

  // Adds a term that has no surface yet, if it is new.
  void learn_term(std::string_view term);

  // The surfaces with a term, in the order they were learnt. REQUIRES: i < surface_count(). The
  // view is valid as long as the vocabulary.
  std::size_t surface_count() const { return plain_count_ + surfaces_.size(); }
  std::string_view surface(std::size_t i) const { return strings_.at(string_of_surface(i)); }
  TermId term_of(std::size_t i) const { return meaning_of(string_of_surface(i)); }

  std::size_t term_count() const { return plain_count_ + terms_.size(); }
  std::string_view term(TermId id) const {
    return strings_.at(id < plain_count_ ? id : terms_[id - plain_count_]);
  }
  std::size_t resident_bytes() const;

  // The state that write() saves: taken quickly, without a concurrent learn(), and unaffected by
  // later ones, as long as the vocabulary exists.
  struct Image;
  Image image() const;
  static void write(const Image& image, SnapshotWriter& snapshot);
  // Throws SnapshotDamaged for numbers out of range.
  static Vocabulary read(const SnapshotReader& snapshot);

 private:
  struct Meaning {
    TermId surface;  // the term it stands for as a surface
    TermId term;     // its number as a term
  };
  // The number of the term that a string spells, added if new. REQUIRES: a number of enter().
  TermId term_at(std::uint32_t number);
  // The number of a string, added if new.
  std::uint32_t enter(std::string_view string);
  // Throws std::length_error if no further number is available.
  void require_number() const;
  // The term of a string as a surface.
  TermId meaning_of(std::uint32_t number) const {
    if (number < plain_count_ || number == StringTable::kAbsent) {
      return number == StringTable::kAbsent ? kUnknown : number;
    }
    return meanings_[number - plain_count_].surface;
  }
  // The number of a string as a term.
  TermId own_term_of(std::uint32_t number) const {
    return number < plain_count_ ? number : meanings_[number - plain_count_].term;
  }
  std::uint32_t string_of_surface(std::size_t i) const {
    return i < plain_count_ ? static_cast<std::uint32_t>(i) : surfaces_[i - plain_count_];
  }

  StringTable strings_;  // surfaces and terms together, since most strings are both
  // The first strings are surface and term at once, with equal numbers: all of them, if nothing is
  // stemmed. The members below are about the others.
  std::uint32_t plain_count_ = 0;
  Stored<Meaning> meanings_;
  Stored<std::uint32_t> terms_;     // string number of each term
  Stored<std::uint32_t> surfaces_;  // string number of each surface
};

struct Vocabulary::Image {
  StringTable::Image strings;
  std::vector<Meaning> meanings;
  std::vector<std::uint32_t> terms;
  std::vector<std::uint32_t> surfaces;
};

template <typename Spell>
void Vocabulary::of_surfaces(Spell spell, std::span<TermId> terms) const {
  constexpr std::size_t kAhead = 8;
  constexpr std::size_t kSlotAhead = 4;  // from a slot to its string
  std::array<StringTable::Key, kAhead> keys;
  for (std::size_t i = 0; i < terms.size() + kAhead; ++i) {
    if (i >= kAhead) {
      terms[i - kAhead] = strings_.find(keys[i % kAhead]);
    }
    if (i < terms.size()) {
      keys[i % kAhead] = strings_.key(spell(i));
      strings_.prefetch_slot(keys[i % kAhead]);
    }
    if (i >= kSlotAhead && i - kSlotAhead < terms.size()) {
      strings_.prefetch_string(keys[(i - kSlotAhead) % kAhead]);
    }
  }
  for (TermId& term : terms) {
    term = meaning_of(term);  // before, the number of its string
  }
}

}  // namespace oneiros
