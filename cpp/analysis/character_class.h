// Character data for the analyzer: the class of a character, and its folded and lower-case forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneiros {

enum class CharacterClass : std::uint8_t {
  kSeparator,  // between words
  kIgnored,    // skipped: format characters, accents, variation selectors
  kLetter,
  kDigit,
  kMark,       // part of the preceding letter (a vowel sign)
  kConnector,  // _ and its like
  kUnspaced,   // letter of a script without spaces, or of Hangul
  kEmoji,
  kRegional,  // half of a flag
  kApostrophe,
  kDot,
  kHyphen,
  kSlash,  // and backslash
  kColon,
  kAt,
  kPlus,
  kHash,
  kUrl,  // inside URLs only: ? = & and so on
};

// The data of one character.
struct CharacterRecord {
  CharacterClass kind;  // of the folded character
  bool is_upper;        // of the unfolded one
  std::uint8_t length;  // number of characters it folds to: 0, 1 or more
  std::int32_t
      folding;  // length 1: to be added to the code point; more: where the expansion starts
};

// A base character and a mark with their composition.
struct Composition {
  char32_t base;
  char32_t mark;
  char32_t composed;
};

// A two-stage table from code points to records.
struct CharacterStages {
  const std::uint16_t* block_numbers;
  const std::uint16_t* record_numbers;
};

// Generated at build time by generate_character_tables.py.
struct CharacterTables {
  CharacterStages folded;   // without accents
  CharacterStages lowered;  // accents stay, or are composed with the preceding letter
  const CharacterRecord* records;
  const char32_t* expansions;  // expansions of all characters, concatenated
  std::span<const Composition> voiced_kana;
  std::span<const Composition> accented;  // ordered by base and mark; for lowered texts
  const char* unicode_version;
};

extern const CharacterTables character_tables;

inline constexpr std::size_t kBlockSize = 128;

// REQUIRES: code_point < 0x110000.
inline const CharacterRecord& character_record(const CharacterStages& stages, char32_t code_point) {
  const std::size_t block = stages.block_numbers[code_point / kBlockSize];
  const std::size_t within = code_point % kBlockSize;
  return character_tables.records[stages.record_numbers[block * kBlockSize + within]];
}

}  // namespace oneiros
