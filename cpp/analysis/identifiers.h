// Identifiers in text: snake_case, camelCase, paths, versions, URLs, addresses.
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// Adds the word at `begin`, with all that is joined to it, and returns where to go on. A chain of
// words (chains.h) may be an identifier: "gpt-4" and "src/a/b.py" are, "high-speed" and "and/or"
// are plain words. Added are
//   - the identifier whole, and each part between slashes, colons and @ that is one itself;
//   - each word in it, split further at connectors and where the case changes.
// A word that only its case splits ("YouTube") is added whole as a word, not as an identifier, so
// that it is found however it is spelt. Letters with dots between are one word: without them
// ("u.s.a." is "usa"), or with the dot if there are two (else "u.s." would be "us"). A URL is its
// scheme, then the rest as an identifier.
// REQUIRES: starts_word(text.kind(begin)).
std::size_t add_joined_words(FoldedText& text, std::size_t begin, TokenList& tokens);

}  // namespace oneiros
