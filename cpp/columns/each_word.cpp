// Letters and digits beyond ASCII, by the analyzer's character tables.
#include "columns/each_word.h"

#include <algorithm>

#include "analysis/character_class.h"

namespace oneiros {

bool is_letter_or_digit(char32_t character) {
  // Letters according to Unicode that the analyzer treats as apostrophes or ignores.
  constexpr std::array<char32_t, 5> kOddLetters{0x2BB, 0x2BC, 0x640, 0x115F, 0x1160};
  const CharacterRecord& record = character_record(character_tables.lowered, character);
  const bool is_expanded = record.length > 1;  // as sharp s is
  return is_expanded || record.kind == CharacterClass::kLetter ||
         record.kind == CharacterClass::kDigit || record.kind == CharacterClass::kUnspaced ||
         std::find(kOddLetters.begin(), kOddLetters.end(), character) != kOddLetters.end();
}

}  // namespace oneiros
