// The position of the prefix in a text to be completed: "src/rea" may become "src/read.py".
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"

namespace oneiros {

// The split of a text into complete words and a prefix.
struct PrefixPlace {
  std::size_t begin;  // words before it are complete; text.size() if there is no prefix
  bool is_phrase;     // characters of a script without spaces: only complete words
};

// The prefix is the last part of the text at which a token may start: after the last separator, and
// also after the last joiner, unless the part is an identifier and `identifiers` is set.
PrefixPlace prefix_of(const FoldedText& text, bool identifiers);

}  // namespace oneiros
