#include "analysis/identifiers.h"

#include <string>

#include "analysis/camel_case.h"

namespace oneiros {
namespace {

using Kind = CharacterClass;

// What a chain, a segment of it or a word holds.
struct Traits {
  bool has_dot = false;
  bool has_hyphen = false;
  bool has_digit = false;
  bool has_connector = false;
  bool has_letter = false;
  bool has_apostrophe = false;
  bool has_link = false;   // a colon, an @, a backslash
  bool is_rooted = false;  // starts with a slash or an @
  std::size_t slashes = 0;
};

bool is_identifier(const Traits& traits) {
  const bool has_word = traits.has_digit || traits.has_letter;
  const bool has_joiner = traits.has_dot || traits.has_hyphen || traits.slashes > 0;
  const bool is_path = traits.slashes > 1 || (traits.slashes == 1 && traits.is_rooted);
  return has_word && (traits.has_dot || traits.has_connector || traits.has_link || is_path ||
                      (has_joiner && traits.has_digit));
}

void note(const FoldedText& text, std::size_t i, Traits& traits) {
  switch (text.kind(i)) {
    case Kind::kDot:
      traits.has_dot = true;
      break;
    case Kind::kHyphen:
      traits.has_hyphen = true;
      break;
    case Kind::kDigit:
      traits.has_digit = true;
      break;
    case Kind::kConnector:
      traits.has_connector = true;
      break;
    case Kind::kLetter:
      traits.has_letter = true;
      break;
    case Kind::kApostrophe:
      traits.has_apostrophe = true;
      break;
    case Kind::kSlash:
      traits.has_link = traits.has_link || text.byte(i) == '\\';
      ++traits.slashes;
      break;
    case Kind::kColon:
    case Kind::kAt:
      traits.has_link = true;
      break;
    default:
      break;
  }
}

Traits traits_of(const FoldedText& text, std::size_t begin, std::size_t end) {
  Traits traits;
  for (std::size_t i = begin; i < end; ++i) {
    note(text, i, traits);
  }
  return traits;
}

// Bytes of the joiner at `i` if it joins a word to the next, else 0.
std::size_t joiner_length(const FoldedText& text, std::size_t i) {
  switch (text.kind(i)) {
    case Kind::kDot:
    case Kind::kHyphen:
    case Kind::kSlash:
    case Kind::kAt:
      return starts_word(text.kind(i + 1)) ? 1 : 0;
    case Kind::kColon:
      if (text.kind(i + 1) == Kind::kColon) {
        return starts_word(text.kind(i + 2)) ? 2 : 0;
      }
      return text.kind(i + 1) == Kind::kDigit ? 1 : 0;  // a port, a line, a time of day
    default:
      return 0;
  }
}

std::size_t chain_end(const FoldedText& text, std::size_t first_word_end) {
  std::size_t end = first_word_end;
  std::size_t length = joiner_length(text, end);
  while (length > 0) {
    end = word_end(text, end + length);
    length = joiner_length(text, end);
  }
  return end;
}

struct Range {
  std::size_t begin;
  std::size_t end;
};

bool is_url_kind(Kind kind) {
  return is_word_kind(kind) || (kind >= Kind::kDot && kind <= Kind::kUrl);
}

// What follows the scheme and "://" of a URL; empty if there is none. Ends with a word.
Range url_after(const FoldedText& text, std::size_t scheme_end) {
  if (text.kind(scheme_end) != Kind::kColon || text.byte(scheme_end + 1) != '/' ||
      text.byte(scheme_end + 2) != '/' || !starts_word(text.kind(scheme_end + 3))) {
    return {0, 0};
  }
  Range url{scheme_end + 3, scheme_end + 4};
  while (is_url_kind(text.kind(url.end))) {
    ++url.end;
  }
  while (!is_word_kind(text.kind(url.end - 1))) {
    --url.end;
  }
  return url;
}

// A word without connectors: as it is, or whole and in parts where the case changes.
void add_part(const FoldedText& text, Range part, const Traits& traits, TokenList& tokens) {
  if (traits.has_apostrophe) {
    tokens.add_apostrophe_word(part.begin, part.end);
    return;
  }
  if (!is_camel_case(text, part.begin, part.end)) {
    tokens.add_word(part.begin, part.end);
    return;
  }
  tokens.add_whole_word(part.begin, part.end);
  while (part.begin < part.end) {
    const std::size_t end = camel_part_end(text, part.begin, part.end);
    tokens.add_word(part.begin, end);
    part.begin = end;
  }
}

// A word with its connectors, whole unless `is_added`, and in parts.
void add_connected(const FoldedText& text, Range word, bool is_added, TokenList& tokens) {
  const Traits traits = traits_of(text, word.begin, word.end);
  if (!traits.has_connector) {
    add_part(text, word, traits, tokens);
    return;
  }
  if (!traits.has_digit && !traits.has_letter) {
    return;  // a line of underscores
  }
  if (!is_added) {
    tokens.add_whole(word.begin, word.end);
  }
  std::size_t begin = word.begin;
  for (std::size_t i = word.begin; i <= word.end; ++i) {
    const bool is_end = i == word.end || text.kind(i) == Kind::kConnector;
    if (is_end && begin < i) {
      add_part(text, {begin, i}, traits, tokens);
    }
    begin = is_end ? i + 1 : begin;
  }
}

// First byte from `i` on whose being part of a word, or of dots and hyphens too, is `wanted`.
std::size_t find_word(const FoldedText& text, std::size_t i, std::size_t end, bool wanted) {
  while (i < end && (is_word_kind(text.kind(i)) || text.kind(i) == Kind::kApostrophe) != wanted) {
    ++i;
  }
  return i;
}

std::size_t find_segment(const FoldedText& text, std::size_t i, std::size_t end, bool wanted) {
  const auto is_inside = [&text](std::size_t at) {
    const Kind kind = text.kind(at);
    return is_word_kind(kind) || kind == Kind::kApostrophe || kind == Kind::kDot ||
           kind == Kind::kHyphen;
  };
  while (i < end && is_inside(i) != wanted) {
    ++i;
  }
  return i;
}

// What stands between two slashes or the like: a file name, a host, a version.
void add_segment(const FoldedText& text, Range segment, bool is_added, TokenList& tokens) {
  const bool is_whole = is_identifier(traits_of(text, segment.begin, segment.end));
  std::size_t begin = find_word(text, segment.begin, segment.end, true);
  std::size_t end = find_word(text, begin, segment.end, false);
  const bool is_single = begin == segment.begin && end == segment.end;
  if (is_whole && !is_added && !is_single) {
    tokens.add_whole(segment.begin, segment.end);
  }
  while (begin < end) {
    add_connected(text, {begin, end}, is_added && is_single, tokens);
    begin = find_word(text, end, segment.end, true);
    end = find_word(text, begin, segment.end, false);
  }
}

void add_chain(const FoldedText& text, Range chain, bool is_rooted, TokenList& tokens) {
  Traits traits = traits_of(text, chain.begin, chain.end);
  traits.is_rooted = is_rooted;
  const bool is_whole = is_identifier(traits);
  if (is_whole) {
    tokens.add_whole(chain.begin, chain.end);
  }
  std::size_t begin = chain.begin;
  while (begin < chain.end) {
    const std::size_t end = find_segment(text, begin, chain.end, false);
    const bool is_all = begin == chain.begin && end == chain.end;
    add_segment(text, {begin, end}, is_whole && is_all, tokens);
    begin = find_segment(text, end, chain.end, true);
  }
}

// Letters with dots between, "u.s.a"?
bool is_abbreviation(const FoldedText& text, Range chain) {
  bool wants_letter = true;
  for (std::size_t i = chain.begin; i < chain.end; i = text.next(i)) {
    if (text.kind(i) != (wants_letter ? Kind::kLetter : Kind::kDot)) {
      return false;
    }
    wants_letter = !wants_letter;
  }
  return true;
}

// Two letters keep their dot: "u.s" is not "us".
void add_abbreviation(FoldedText& text, Range chain, TokenList& tokens) {
  if (text.next(text.next(text.next(chain.begin))) == chain.end) {
    tokens.add_literal(chain.begin, chain.end);
    return;
  }
  std::string letters(text.slice(chain.begin, chain.end));
  std::erase(letters, '.');
  tokens.add_spelling(letters);
}

// "c++", "c#": the word's end with such a sign.
std::size_t signed_end(const FoldedText& text, Range word) {
  const std::size_t end = word.end;
  if (text.kind(end) == Kind::kPlus && text.kind(end + 1) == Kind::kPlus &&
      !starts_word(text.kind(end + 2))) {
    return end + 2;
  }
  const bool is_sharp = text.kind(end) == Kind::kHash && text.next(word.begin) == end;
  return is_sharp && !starts_word(text.kind(end + 1)) ? end + 1 : end;
}

}  // namespace

std::size_t word_end(const FoldedText& text, std::size_t begin) {
  std::size_t i = begin;
  while (true) {
    while (is_word_kind(text.kind(i))) {
      ++i;
    }
    const bool is_inside = text.kind(i) == Kind::kApostrophe && i > begin &&
                           text.kind(i - 1) == Kind::kLetter && text.kind(i + 1) == Kind::kLetter;
    if (!is_inside) {
      return i;
    }
    ++i;
  }
}

std::size_t add_joined_words(FoldedText& text, std::size_t begin, TokenList& tokens) {
  const Range word{begin, word_end(text, begin)};
  const Range url = url_after(text, word.end);
  if (url.begin > 0) {
    add_connected(text, word, false, tokens);
    add_chain(text, url, true, tokens);
    return url.end;
  }
  const Range chain{begin, chain_end(text, word.end)};
  if (chain.end == word.end) {
    const std::size_t end = signed_end(text, word);
    if (end > word.end) {
      tokens.add_whole(begin, end);
    }
    add_connected(text, word, false, tokens);
    return end;
  }
  if (is_abbreviation(text, chain)) {
    add_abbreviation(text, chain, tokens);
    return chain.end;
  }
  const Kind before = begin > 0 ? text.kind(begin - 1) : Kind::kSeparator;
  add_chain(text, chain, before == Kind::kSlash || before == Kind::kAt, tokens);
  return chain.end;
}

}  // namespace oneiros
