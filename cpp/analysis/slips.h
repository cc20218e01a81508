// The words that one slip of the hand makes of a word. Source: docs/systems/house.md H20.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oneiros {

// A word of fewer letters has too many others near it; of a longer one, too much would be tried.
inline constexpr std::size_t kFewestSlippedLetters = 4;
inline constexpr std::size_t kMostSlippedLetters = 32;

// The words one slip away from a folded word, distinct, in this order: two neighbouring letters
// swapped, a letter left out, a letter in place of another, a letter put in. The first letter
// stays. Letters in place of others and those put in are of the Latin, Greek or Cyrillic alphabet
// without accents, by the script of the first letter; there are none in other scripts. One from a
// to z is replaced only by one that is easily taken for it: a neighbour on a keyboard, a vowel by
// a vowel, or one that sounds alike. Nothing for a word with another number of letters, or with
// anything that is no letter. Cost: about 35 words for each letter.
std::vector<std::string> one_slip_away(std::string_view word);

}  // namespace oneiros
