// Every edit of a word by one letter, in code points.
#include "analysis/slips.h"

#include <array>
#include <optional>
#include <utility>

#include "analysis/character_class.h"
#include "analysis/utf8.h"

namespace oneiros {

namespace {

struct Alphabet {
  char32_t first_of_script;
  char32_t last_of_script;
  char32_t first;
  char32_t last;
};

constexpr std::array kAlphabets = {
    Alphabet{0x0041, 0x024F, U'a', U'z'},
    Alphabet{0x0370, 0x03FF, 0x03B1, 0x03C9},  // alpha to omega
    Alphabet{0x0400, 0x04FF, 0x0430, 0x044F},  // a to ya
};

// What is typed in place of each letter from a to z: its neighbours on a QWERTY keyboard, diagonal
// ones among them; of vowels and y, the others; of letters that sound alike, the other: b p, c k,
// c q, c s, c z, d t, f v, g j, k q, l r, m n, s x, s z, v w.
constexpr std::array<std::string_view, 26> kMistaken = {
    "eioqsuwxyz",  // a
    "fghnpv",      // b
    "dfkqsvxz",    // c
    "cefrstvwx",   // d
    "adfiorsuwy",  // e
    "bcdegrtv",    // f
    "bfhjnrtvy",   // g
    "bgjmntuy",    // h
    "aejklouy",    // i
    "ghikmnuy",    // j
    "cijlmoqu",    // k
    "ikopr",       // l
    "hjkn",        // m
    "bghjm",       // n
    "aeiklpuy",    // o
    "blo",         // p
    "acksw",       // q
    "defglt",      // r
    "acdeqwxz",    // s
    "dfghry",      // t
    "aehijkoy",    // u
    "bcdfgw",      // v
    "adeqsv",      // w
    "acdsz",       // x
    "aeghijotu",   // y
    "acsx",        // z
};

bool may_be_mistaken(std::string_view letter, std::string_view typed) {
  const char own = letter.front();
  return own < 'a' || own > 'z'
             ? letter != typed
             : kMistaken[static_cast<std::size_t>(own - 'a')].find(typed) != std::string_view::npos;
}

// The letters of a word, and where each begins.
struct Letters {
  std::string_view word;
  std::vector<std::size_t> starts;  // and the word's end

  std::size_t size() const { return starts.size() - 1; }
  std::string_view at(std::size_t i) const { return between(i, i + 1); }
  std::string_view between(std::size_t begin, std::size_t end) const {
    return word.substr(starts[begin], starts[end] - starts[begin]);
  }
  std::string_view from(std::size_t begin) const { return word.substr(starts[begin]); }
};

// No value for a word with another character, or with too few or too many letters.
std::optional<Letters> letters_of(std::string_view word) {
  Letters letters{.word = word, .starts = {}};
  for (std::size_t at = 0; at < word.size();) {
    const Decoded read = decode_utf8(word, at);
    if (character_record(character_tables.folded, read.code_point).kind !=
            CharacterClass::kLetter ||
        letters.starts.size() == kMostSlippedLetters) {
      return std::nullopt;
    }
    letters.starts.push_back(at);
    at += read.length;
  }
  letters.starts.push_back(word.size());
  if (letters.size() < kFewestSlippedLetters) {
    return std::nullopt;
  }
  return letters;
}

std::vector<std::string> alphabet_of(char32_t letter) {
  std::vector<std::string> found;
  std::array<char, 4> bytes{};
  for (const Alphabet& one : kAlphabets) {
    if (letter >= one.first_of_script && letter <= one.last_of_script) {
      for (char32_t next = one.first; next <= one.last; ++next) {
        found.emplace_back(bytes.data(), encode_utf8(next, bytes.data()));
      }
    }
  }
  return found;
}

std::string joined(std::string_view start, std::string_view middle, std::string_view end) {
  std::string word;
  word.reserve(start.size() + middle.size() + end.size());
  return word.append(start).append(middle).append(end);
}

}  // namespace

// What two edits have in common is made by one of them: of equal neighbours, the first is left out,
// and a letter is put in before an equal one, but that the first letter stays.
std::vector<std::string> one_slip_away(std::string_view word) {
  const std::optional<Letters> read = letters_of(word);
  if (!read) {
    return {};
  }
  const Letters& letters = *read;
  const std::size_t count = letters.size();
  const std::vector<std::string> alphabet = alphabet_of(decode_utf8(word, 0).code_point);
  std::vector<std::string> found;
  found.reserve(2 * count * (alphabet.size() + 1));
  for (std::size_t at = 1; at + 1 < count; ++at) {
    if (letters.at(at) != letters.at(at + 1)) {
      found.push_back(joined(letters.between(0, at), letters.at(at + 1), letters.at(at)));
      found.back().append(letters.from(at + 2));
    }
  }
  for (std::size_t at = 1; at < count; ++at) {
    if (at == 1 || letters.at(at) != letters.at(at - 1)) {
      found.push_back(joined(letters.between(0, at), {}, letters.from(at + 1)));
    }
  }
  for (std::size_t at = 1; at < count; ++at) {
    for (const std::string& letter : alphabet) {
      if (may_be_mistaken(letters.at(at), letter)) {
        found.push_back(joined(letters.between(0, at), letter, letters.from(at + 1)));
      }
    }
  }
  for (std::size_t at = 1; at <= count; ++at) {
    for (const std::string& letter : alphabet) {
      if (at == 1 || letter != letters.at(at - 1)) {
        found.push_back(joined(letters.between(0, at), letter, letters.from(at)));
      }
    }
  }
  return found;
}

}  // namespace oneiros
