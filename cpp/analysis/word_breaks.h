// Word boundaries, after Unicode Standard Annex #29 without dictionaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// What a text is broken into words for.
enum class Breaking : std::uint8_t { kText, kQuery };

// Adds the words of `text` in order, in linear time:
//   - consecutive letters, digits, connectors and marks are a word, with apostrophes between
//   letters;
//   - scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and Hangul give overlapping
//   pairs
//     of characters, a single one by itself. Hangul words carry particles that only a dictionary
//     could remove, and pairs find the stem inside them. A text to be indexed also gets the single
//     characters of its pairs, so that a query of one character finds it; a query does not;
//   - an emoji is a word, as are the two halves of a flag; joined emoji are adjacent words;
//   - with `identifiers`, as in identifiers.h; without, a word keeps its connectors.
// REQUIRES: `tokens` was created for `text`, and is empty.
void break_words(FoldedText& text, bool identifiers, Breaking breaking, TokenList& tokens);

// A UTF-8 text with a blank in place of each letter of a script without spaces or of Hangul: what
// is left has words between blanks. Linear.
std::string without_unspaced(std::string_view utf8);

}  // namespace oneiros
