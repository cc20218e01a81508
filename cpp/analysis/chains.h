// Words joined by dots, slashes and the like: how far they go, and whether they name something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/folded_text.h"

namespace oneiros {

// Bytes of a FoldedText.
struct Range {
  std::size_t begin;
  std::size_t end;

  bool operator==(const Range&) const = default;
};

// What stands in a range.
class Traits {
 public:
  Traits(const FoldedText& text, Range range);

  bool has(CharacterClass kind) const { return (kinds_ >> static_cast<unsigned>(kind) & 1U) != 0; }
  bool has_word() const { return has(CharacterClass::kLetter) || has(CharacterClass::kDigit); }

  // A dot, a connector, a colon, an @ or a backslash make it one, and so do two slashes, one slash
  // if it is rooted (stands behind a slash or an @), or a digit beside any joiner.
  bool is_identifier(bool is_rooted) const;

 private:
  std::uint32_t kinds_ = 0;  // a bit for each class
  std::size_t slash_count_ = 0;
  bool has_backslash_ = false;
};

// First byte after the word at `begin`: letters, digits, connectors, marks, and apostrophes between
// letters.
std::size_t word_end(const FoldedText& text, std::size_t begin);

// End of the chain whose first word ends at `first_end`: words with one of . - / \ @ :: between, or
// a colon before a digit (a port, a line, a time of day).
std::size_t chain_end(const FoldedText& text, std::size_t first_end);

// What follows the scheme, that ends at `scheme_end`, and "://" of a URL; it starts and ends with a
// word. Empty if there is none.
Range url_after(const FoldedText& text, std::size_t scheme_end);

// Letters with dots between, "u.s.a"? REQUIRES: a chain.
bool is_abbreviation(const FoldedText& text, Range chain);

}  // namespace oneiros
