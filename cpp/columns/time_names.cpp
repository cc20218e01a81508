#include "columns/time_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/character_class.h"
#include "analysis/utf8.h"
#include "columns/each_word.h"

namespace oneiros {

namespace {

constexpr std::size_t kMostLetters = 16;
constexpr std::size_t kYearDigits = 4;

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_small(c) || is_capital(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void check(const std::vector<std::string>& words, bool (*is_first)(char)) {
  for (const std::string& word : words) {
    if (word.empty() || word.size() > kMostLetters || !is_first(word.front()) ||
        !std::all_of(word.begin() + 1, word.end(), is_small)) {
      throw std::invalid_argument("words: must be of 1 to 16 letters from a to z");
    }
  }
}

// The end of the run from `at` on of bytes for which `is_part` holds.
std::size_t run_end(std::string_view text, std::size_t at, bool (*is_part)(char)) {
  while (at < text.size() && is_part(text[at])) {
    ++at;
  }
  return at;
}

bool is_year(std::string_view digits) {
  return digits.size() == kYearDigits && (digits.starts_with("19") || digits.starts_with("20"));
}

bool is_word_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (static_cast<unsigned char>(c) < 0x80) {
    return is_letter(c) || is_digit(c) || c == '_';
  }
  const char32_t character = decode_utf8(text, at).code_point;
  const CharacterRecord& record = character_record(character_tables.lowered, character);
  const bool is_expanded = record.length > 1;  // to dots, as an ellipsis, or to letters
  return is_letter_or_digit(is_expanded ? character_tables.expansions[record.folding] : character);
}

// Whether no letter, digit or underscore stands before or after a part of a text.
bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (end < text.size() && is_word_at(text, end)) {
    return false;
  }
  if (begin == 0) {
    return true;
  }
  std::size_t before = begin - 1;
  while (before > 0 && is_continuation(text[before])) {
    --before;
  }
  return !is_word_at(text, before);
}

}  // namespace

TimeNames::TimeNames(std::vector<std::string> words, std::vector<std::string> capitalised)
    : words_(std::move(words)), capitalised_(std::move(capitalised)) {
  check(words_, is_small);
  check(capitalised_, is_capital);
  for (std::vector<std::string>* list : {&words_, &capitalised_}) {
    std::ranges::sort(*list);
    for (const std::string& word : *list) {
      longest_ = std::max(longest_, word.size());
    }
  }
}

bool TimeNames::stand_in(std::string_view utf8) const {
  for (std::size_t at = 0; at < utf8.size();) {
    if (is_digit(utf8[at])) {
      const std::size_t end = run_end(utf8, at, is_digit);
      if (is_year(utf8.substr(at, end - at))) {
        return true;
      }
      at = end;
    } else if (is_letter(utf8[at])) {
      const std::size_t end = run_end(utf8, at, is_letter);
      const std::string_view word = utf8.substr(at, end - at);
      if (word.size() <= longest_) {
        std::array<char, kMostLetters> small{};
        std::ranges::transform(word, small.begin(), [](char c) {
          return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
        });
        if (std::ranges::binary_search(words_, std::string_view(small.data(), word.size()))) {
          return true;
        }
        if (is_capital(word.front()) && std::ranges::binary_search(capitalised_, word) &&
            stands_alone(utf8, at, end)) {
          return true;
        }
      }
      at = end;
    } else {
      ++at;
    }
  }
  return false;
}

}  // namespace oneiros
