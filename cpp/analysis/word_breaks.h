// Where the words of a text begin and end (after Unicode Standard Annex #29, without dictionaries).
#pragma once

#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// Adds the words of `text` in order, in linear time:
//   - letters, digits, connectors and marks in a row are a word, apostrophes between letters in it;
//   - scripts that do not part their words (Han, kana, Thai, Lao, Khmer, Burmese), and Hangul, give
//     overlapping pairs of characters, a lone one itself. Hangul too: its words carry particles
//     that only a dictionary could take off, and pairs find the stem within them;
//   - an emoji is a word, a flag's two halves are one; joined emoji are words side by side;
//   - with `identifiers`, what identifiers.h tells; without, a word keeps its connectors.
// REQUIRES: `tokens` was made for `text`, and is empty.
void break_words(FoldedText& text, bool identifiers, TokenList& tokens);

}  // namespace oneiros
