// The boundary between complete words and a prefix, found from the end of the text backwards.
#include "analysis/prefix.h"

#include "analysis/chains.h"
#include "analysis/tokens.h"

namespace oneiros {
namespace {

using Kind = CharacterClass;

bool is_joiner(Kind kind) {
  return kind == Kind::kDot || kind == Kind::kHyphen || kind == Kind::kSlash ||
         kind == Kind::kColon || kind == Kind::kAt || kind == Kind::kPlus || kind == Kind::kHash;
}

bool is_symbol(Kind kind) { return kind == Kind::kEmoji || kind == Kind::kRegional; }

// True if a token may end and another start at the boundary between the characters at `i`.
bool is_border(const FoldedText& text, std::size_t i) {
  const Kind before = text.kind(i - 1);
  const Kind after = text.kind(i);
  if (after == Kind::kMark || before == Kind::kMark) {
    return false;  // part of the preceding character
  }
  return (before == Kind::kUnspaced) != (after == Kind::kUnspaced) || is_symbol(before) ||
         is_symbol(after);
}

// The position after the last separator.
std::size_t behind_separators(const FoldedText& text) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); i = text.next(i)) {
    const Kind kind = text.kind(i);
    if (kind == Kind::kSeparator || kind == Kind::kUrl) {
      begin = text.next(i);
    } else if (i > 0 && is_border(text, i)) {
      begin = i;
    }
  }
  return begin;
}

// The position after the last joiner from `begin` on.
std::size_t behind_joiners(const FoldedText& text, std::size_t begin) {
  for (std::size_t i = begin; i < text.size(); i = text.next(i)) {
    if (is_joiner(text.kind(i))) {
      begin = text.next(i);
    }
  }
  return begin;
}

bool starts_token(Kind kind) {
  return starts_word(kind) || kind == Kind::kUnspaced || is_symbol(kind);
}

// True if the text from `begin` on has a character of an unspaced script, whose words are complete.
bool has_unspaced(const FoldedText& text, std::size_t begin) {
  for (std::size_t i = begin; i < text.size(); i = text.next(i)) {
    if (text.kind(i) == Kind::kUnspaced) {
      return true;
    }
  }
  return false;
}

}  // namespace

PrefixPlace prefix_of(const FoldedText& text, bool identifiers) {
  std::size_t begin = behind_separators(text);
  if (!identifiers || !Traits(text, {begin, text.size()}).is_identifier(false)) {
    begin = behind_joiners(text, begin);
  }
  while (begin < text.size() && !starts_token(text.kind(begin))) {
    begin = text.next(begin);
  }
  return {begin, has_unspaced(text, begin)};
}

}  // namespace oneiros
