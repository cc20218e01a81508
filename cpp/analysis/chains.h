// Words joined by dots, slashes and similar characters: their extent, and whether they are
// identifiers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/folded_text.h"

namespace oneiros {

// A range of bytes of a FoldedText.
struct Range {
  std::size_t begin;
  std::size_t end;

  bool operator==(const Range&) const = default;
};

// The kinds of characters in a range.
class Traits {
 public:
  Traits(const FoldedText& text, Range range);

  bool has(CharacterClass kind) const { return (kinds_ >> static_cast<unsigned>(kind) & 1U) != 0; }
  bool has_word() const { return has(CharacterClass::kLetter) || has(CharacterClass::kDigit); }

  // True if the chain is an identifier: it has a dot, connector, colon, @ or backslash, or two
  // slashes, or one slash if it is rooted (preceded by a slash or @), or a digit next to a joiner.
  bool is_identifier(bool is_rooted) const;

 private:
  std::uint32_t kinds_ = 0;  // one bit per class
  std::size_t slash_count_ = 0;
  bool has_backslash_ = false;
};

// The end of the word at `begin`: letters, digits, connectors, marks, and apostrophes between
// letters.
std::size_t word_end(const FoldedText& text, std::size_t begin);

// The end of the chain whose first word ends at `first_end`: words joined by . - / \ @ or ::, or by
// a colon before a digit (a port, a line, a time of day).
std::size_t chain_end(const FoldedText& text, std::size_t first_end);

// The part of a URL after the scheme, which ends at `scheme_end`, and "://". It starts and ends
// with a word. Empty if there is none.
Range url_after(const FoldedText& text, std::size_t scheme_end);

// True for letters separated by dots, as in "u.s.a". REQUIRES: a chain.
bool is_abbreviation(const FoldedText& text, Range chain);

}  // namespace oneiros
