// Identifiers in text: snake_case, camelCase, paths, versions, URLs, addresses.
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// Adds the word at `begin` with everything joined to it, and returns the position after it. A chain
// of words (chains.h) may be an identifier: "gpt-4" and "src/a/b.py" are, "high-speed" and "and/or"
// are plain words. For an identifier, these tokens are added:
//   - the identifier as a whole, and each part between slashes, colons and @ that is an identifier;
//   - each word in it, split further at connectors and where the case changes.
// A word that is split only by its case ("YouTube") is added as a word rather than an identifier,
// so that it is found in any spelling. Letters separated by dots are one word: without the dots
// ("u.s.a." becomes "usa"), but with the dot if there are two (otherwise "u.s." would be "us"). A
// URL becomes its scheme, followed by the rest as an identifier.
// REQUIRES: starts_word(text.kind(begin)).
std::size_t add_joined_words(FoldedText& text, std::size_t begin, TokenList& tokens);

}  // namespace oneiros
