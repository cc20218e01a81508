// Tokens of a text as one line, for tests: "whole/0 part/0 next/1".
#pragma once

#include <string>
#include <string_view>

#include "analysis/folded_text.h"
#include "analysis/tokens.h"
#include "analysis/word_breaks.h"

namespace oneiros::testing {

inline std::string words(std::string_view utf8, bool identifiers = true,
                         bool with_positions = false, Breaking breaking = Breaking::kQuery) {
  FoldedText text;
  TokenList list(text);
  text.assign(utf8);
  break_words(text, identifiers, breaking, list);
  std::string line;
  for (std::size_t i = 0; i < list.tokens().size(); ++i) {
    line += line.empty() ? "" : " ";
    line += list.surface(i);
    if (with_positions) {
      line += "/" + std::to_string(list.tokens()[i].position);
    }
  }
  return line;
}

inline std::string positions(std::string_view utf8, Breaking breaking = Breaking::kQuery) {
  return words(utf8, true, true, breaking);
}

}  // namespace oneiros::testing
