// The words of one text, as slices of its folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/folded_text.h"

namespace oneiros {

struct Token {
  std::size_t begin;  // in the FoldedText
  std::uint32_t length;
  std::uint32_t position;
  bool is_literal;  // a term as it stands: an identifier, a bigram, an emoji
};

// Collects tokens in text order; cuts those over the limit at a character, and counts them.
class TokenList {
 public:
  explicit TokenList(FoldedText& text) : text_(&text) {}
  void clear();

  // A word, at the next position.
  void add_word(std::size_t begin, std::size_t end) { add(begin, end, position_++, false); }
  // The same for one with apostrophes inside: articles before and clitics after are left out, what
  // is a word on either side is two.
  void add_apostrophe_word(std::size_t begin, std::size_t end);
  // A bigram, an emoji: at the next position.
  void add_literal(std::size_t begin, std::size_t end) { add(begin, end, position_++, true); }
  // A word or an identifier whose parts will follow, from the same position on.
  void add_whole_word(std::size_t begin, std::size_t end) { add(begin, end, position_, false); }
  void add_whole(std::size_t begin, std::size_t end);
  // A word that stands nowhere in the text as it is spelt ("u.s.a." -> "usa").
  void add_spelling(std::string_view word);

  const std::vector<Token>& tokens() const { return tokens_; }
  std::string_view surface(std::size_t i) const {
    return text_->slice(tokens_[i].begin, tokens_[i].begin + tokens_[i].length);
  }
  std::size_t cut_count() const { return cut_count_; }
  std::size_t capacity() const { return tokens_.capacity() * sizeof(Token); }

 private:
  void add(std::size_t begin, std::size_t end, std::uint32_t position, bool is_literal);
  std::size_t cut(std::size_t begin);
  std::size_t after_apostrophe(std::size_t begin, std::size_t end) const;

  FoldedText* text_;
  std::vector<Token> tokens_;
  std::uint32_t position_ = 0;
  std::size_t cut_count_ = 0;
};

// Is a byte of this class part of a word, an apostrophe inside it aside?
inline bool is_word_kind(CharacterClass kind) {
  return kind == CharacterClass::kLetter || kind == CharacterClass::kDigit ||
         kind == CharacterClass::kMark || kind == CharacterClass::kConnector;
}

// May a word start with it? A mark alone is none.
inline bool starts_word(CharacterClass kind) {
  return is_word_kind(kind) && kind != CharacterClass::kMark;
}

}  // namespace oneiros
