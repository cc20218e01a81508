// Words inside a word, marked by upper case: camelCase, HTTPServer2.
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"

namespace oneiros {

// True if a capital starts a part inside the word. Units and the like ("kHz", "PhD": up to three
// bytes) and plurals of acronyms ("URLs") are plain words.
bool is_camel_case(const FoldedText& text, std::size_t begin, std::size_t end);

// The end of the part at `begin` of a camel-case word: before a capital that follows a small letter
// or digit, before the last of several capitals that are followed by small letters, and where
// digits start or end. REQUIRES: begin < end.
std::size_t camel_part_end(const FoldedText& text, std::size_t begin, std::size_t end);

}  // namespace oneiros
