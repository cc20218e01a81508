// What the analyzer knows of a character: its class, and what folding makes of it.
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

// A base and a voicing mark, and the kana they make together.
struct VoicedKana {
  char32_t base;
  char32_t mark;
  char32_t composed;
};

// Two-stage tables; written at build time by generate_character_tables.py.
struct CharacterTables {
  const std::uint16_t* block_numbers;
  const std::uint16_t* record_numbers;
  const CharacterRecord* records;
  const char32_t* expansions;  // folded characters, end to end
  std::span<const VoicedKana> voiced_kana;
  const char* unicode_version;
};

extern const CharacterTables character_tables;

inline constexpr std::size_t kBlockSize = 128;

// REQUIRES: code_point < 0x110000.
inline const CharacterRecord& character_record(char32_t code_point) {
  const std::size_t block = character_tables.block_numbers[code_point / kBlockSize];
  const std::size_t within = code_point % kBlockSize;
  return character_tables.records[character_tables.record_numbers[block * kBlockSize + within]];
}

}  // namespace oneiros
