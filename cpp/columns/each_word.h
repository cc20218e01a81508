// The words of a normalised text, as defined in docs/systems/omega.md O3.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include "analysis/utf8.h"

namespace oneiros {

inline constexpr std::size_t kLeastWord = 3;  // characters

inline constexpr std::array<bool, 128> kIsAsciiWord = [] {
  std::array<bool, 128> is_word{};
  for (const char letter : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_")) {
    is_word[static_cast<std::size_t>(letter)] = true;
  }
  return is_word;
}();

// True for letters and digits beyond ASCII.
bool is_letter_or_digit(char32_t character);

// Calls visit(word) for each maximal run of letters, digits and underscores with at least kLeast
// characters, including repeated words. The views point into `text`.
template <std::size_t kLeast = kLeastWord>
void for_each_word(std::string_view text, const std::invocable<std::string_view> auto& visit) {
  std::size_t begin = 0;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const Decoded read = byte < 0x80 ? Decoded{byte, 1} : decode_utf8(text, at);
    const bool is_word = byte < 0x80 ? kIsAsciiWord[byte] : is_letter_or_digit(read.code_point);
    if (is_word) {
      at += read.length;
      ++characters;
      continue;
    }
    if (characters >= kLeast) {
      visit(text.substr(begin, at - begin));
    }
    at += read.length;
    begin = at;
    characters = 0;
  }
  if (characters >= kLeast) {
    visit(text.substr(begin));
  }
}

}  // namespace oneiros
