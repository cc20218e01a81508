// Chains of words. A chain is scanned once, left to right; its traits are collected as one bit per
// character class, so that the decision between identifier and plain words needs no second scan.
#include "analysis/chains.h"

#include "analysis/tokens.h"

namespace oneiros {
namespace {

using Kind = CharacterClass;

// The length of the joiner at `i` if it joins two words, otherwise 0.
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
      return text.kind(i + 1) == Kind::kDigit ? 1 : 0;
    default:
      return 0;
  }
}

bool is_url_kind(Kind kind) {
  return is_word_kind(kind) || (kind >= Kind::kDot && kind <= Kind::kUrl);
}

}  // namespace

Traits::Traits(const FoldedText& text, Range range) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    kinds_ |= 1U << static_cast<unsigned>(text.kind(i));
    slash_count_ += static_cast<std::size_t>(text.kind(i) == Kind::kSlash);
    has_backslash_ = has_backslash_ || text.byte(i) == '\\';
  }
}

bool Traits::is_identifier(bool is_rooted) const {
  const bool has_sign = has(Kind::kDot) || has(Kind::kConnector) || has(Kind::kColon) ||
                        has(Kind::kAt) || has_backslash_;
  const bool is_path = slash_count_ > (is_rooted ? 0 : 1);
  const bool is_numbered = has(Kind::kDigit) && (has(Kind::kHyphen) || has(Kind::kSlash));
  return has_word() && (has_sign || is_path || is_numbered);
}

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

std::size_t chain_end(const FoldedText& text, std::size_t first_end) {
  std::size_t end = first_end;
  std::size_t length = joiner_length(text, end);
  while (length > 0) {
    end = word_end(text, end + length);
    length = joiner_length(text, end);
  }
  return end;
}

Range url_after(const FoldedText& text, std::size_t scheme_end) {
  if (text.kind(scheme_end) != Kind::kColon || text.byte(scheme_end + 1) != '/' ||
      text.byte(scheme_end + 2) != '/' || !starts_word(text.kind(scheme_end + 3))) {
    return {0, 0};
  }
  Range url{scheme_end + 3, scheme_end + 3};
  while (is_url_kind(text.kind(url.end))) {
    ++url.end;
  }
  while (!is_word_kind(text.kind(url.end - 1))) {  // characters that may end the sentence
    --url.end;
  }
  return url;
}

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

}  // namespace oneiros
