// What the analyzer knows of a character: its class, and what folding or lowering makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneiros {

enum class CharacterClass : std::uint8_t {
  kSeparator,  // between words
  kIgnored,    // of no weight: format characters, accents, variation selectors
  kLetter,
  kDigit,
  kMark,       // part of the letter before it (a vowel sign)
  kConnector,  // _ and its like
  kUnspaced,   // letter of a script that does not part its words, or of Hangul
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

struct CharacterRecord {
  CharacterClass kind;  // of the folded character
  bool is_upper;        // of the unfolded one
  std::uint8_t length;  // characters of the folding: 0, 1 or more
  std::int32_t
      folding;  // length 1: to be added to the code point; more: where the expansion starts
};

// A base and a mark, and the character they make together.
struct Composition {
  char32_t base;
  char32_t mark;
  char32_t composed;
};

// From a code point to its record.
struct CharacterStages {
  const std::uint16_t* block_numbers;
  const std::uint16_t* record_numbers;
};

// Written at build time by generate_character_tables.py.
struct CharacterTables {
  CharacterStages folded;   // accents go
  CharacterStages lowered;  // accents stay, or are composed with the letter before
  const CharacterRecord* records;
  const char32_t* expansions;  // what becomes of a character, end to end
  std::span<const Composition> voiced_kana;
  std::span<const Composition> accented;  // in order of base and mark; for lowered texts
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
