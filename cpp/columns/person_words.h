// Whether texts speak of the speaker or to the listener. Source: docs/systems/house.md H15.
#pragma once

#include <cstdint>
#include <span>

#include "columns/text_column.h"

namespace oneiros {

// The words of a text: maximal runs of letters, digits and underscores, so that "I'm" is two.
struct PersonWords {
  std::uint32_t words = 0;
  std::uint32_t first = 0;   // "i", "me", "my", "we", "our" and the like
  std::uint32_t second = 0;  // "you", "your" and the like
  std::uint32_t bytes = 0;   // of the text in UTF-8
};

// Counts the words of each row's text, English pronouns apart; zeros for a row without one.
// REQUIRES: found.size() == rows.size().
void count_person_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                        std::span<PersonWords> found);

}  // namespace oneiros
