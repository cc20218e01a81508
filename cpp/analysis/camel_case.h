// Words within a word, told by upper case: camelCase, HTTPServer2.
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"

namespace oneiros {

// Does a capital begin a part inside the word? Units and the like ("kHz", "PhD": up to three bytes)
// and plurals of capitals ("URLs") are plain words.
bool is_camel_case(const FoldedText& text, std::size_t begin, std::size_t end);

// End of the part at `begin` of a camel-case word that ends at `end`: before a capital after a
// small letter or digit, before the last of several capitals that small letters follow, where
// digits begin or end. REQUIRES: begin < end.
std::size_t camel_part_end(const FoldedText& text, std::size_t begin, std::size_t end);

}  // namespace oneiros
