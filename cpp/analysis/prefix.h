// Where the prefix begins in a text that is to be continued: "src/rea" may go on as "src/read.py".
#pragma once

#include <cstddef>

#include "analysis/folded_text.h"

namespace oneiros {

struct PrefixPlace {
  std::size_t begin;  // the words before it are whole; text.size() if nothing is to be continued
  bool is_phrase;     // two characters or more of a script without spaces: pairs, all of them whole
};

// The prefix is the last piece of the text that a token may begin with: behind the last separator;
// behind the last joiner too, unless with `identifiers` the piece is an identifier as it stands.
PrefixPlace prefix_of(const FoldedText& text, bool identifiers);

}  // namespace oneiros
