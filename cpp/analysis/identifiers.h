// Names of programs and the net: snake_case, camelCase, paths, versions, URLs, addresses.
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// First byte after the word at `begin`: letters, digits, connectors, marks, and apostrophes between
// letters.
std::size_t word_end(const FoldedText& text, std::size_t begin);

// Adds the word at `begin`, with all that is joined to it, and returns where to go on. Words joined
// by . - / \ : :: @ form a chain; a chain is an identifier if it holds a dot, a connector, a colon,
// an @, a backslash, two slashes (one, if it starts with one), or a digit beside any joiner. So
// "high-speed" and "and/or" are plain words, "gpt-4" and "src/a/b.py" are identifiers. Added are
//   - the identifier whole, and each part between slashes, colons and @ that is one itself;
//   - each word in it, split further at connectors and where the case changes.
// Letters with dots between are one word: without them ("u.s.a." is "usa"), or with its dot if
// there are two (else "u.s." would be "us"). A URL is its scheme, then the rest as an identifier.
// REQUIRES: starts_word(text.kind(begin)).
std::size_t add_joined_words(FoldedText& text, std::size_t begin, TokenList& tokens);

}  // namespace oneiros
