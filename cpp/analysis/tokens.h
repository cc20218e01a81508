// The tokens of one text, as ranges of its folded form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/folded_text.h"

namespace oneiros {

// A token: a range, its position, and whether it is looked up without stemming.
struct Token {
  std::size_t begin;  // in the FoldedText
  std::uint32_t length;
  std::uint32_t position;
  bool is_literal;  // a term as it is: an identifier, a bigram, an emoji
  bool is_single;   // a character of a bigram
};

// Collects tokens in text order. Tokens over the limit are cut between characters, and counted.
class TokenList {
 public:
  // Collects tokens of this text, which must outlive the list.
  explicit TokenList(FoldedText& text) : text_(&text) {}
  // Starts over for a new text; keeps the memory.
  void clear();

  // Adds a word at the next position.
  void add_word(std::size_t begin, std::size_t end) { add(begin, end, position_++, false); }
  // The same for a word with apostrophes: articles before and clitics after it are omitted; words
  // on both sides become two.
  void add_apostrophe_word(std::size_t begin, std::size_t end);
  // Adds a bigram or emoji at the next position.
  void add_literal(std::size_t begin, std::size_t end) { add(begin, end, position_++, true); }
  // Adds a character of the bigram that was added last, at its position.
  void add_single(std::size_t begin, std::size_t end);
  // Adds a word or identifier whose parts will follow, starting at the same position.
  void add_whole_word(std::size_t begin, std::size_t end) { add(begin, end, position_, false); }
  // The same for an identifier, which is looked up without stemming.
  void add_whole(std::size_t begin, std::size_t end);
  // Adds a word spelt differently in the text ("u.s.a." -> "usa").
  void add_spelling(std::string_view word);

  const std::vector<Token>& tokens() const { return tokens_; }
  // The bytes of a token.
  std::string_view surface(std::size_t i) const {
    return text_->slice(tokens_[i].begin, tokens_[i].begin + tokens_[i].length);
  }
  // The number of tokens that were cut.
  std::size_t cut_count() const { return cut_count_; }
  std::size_t capacity() const { return tokens_.capacity() * sizeof(Token); }

 private:
  // Adds a token after cutting it to the limit.
  void add(std::size_t begin, std::size_t end, std::uint32_t position, bool is_literal);
  std::size_t cut(std::size_t begin);
  std::size_t after_apostrophe(std::size_t begin, std::size_t end) const;

  FoldedText* text_;
  std::vector<Token> tokens_;
  std::uint32_t position_ = 0;
  std::size_t cut_count_ = 0;
};

// True if a byte of this class is part of a word, not counting apostrophes inside.
inline bool is_word_kind(CharacterClass kind) {
  return kind == CharacterClass::kLetter || kind == CharacterClass::kDigit ||
         kind == CharacterClass::kMark || kind == CharacterClass::kConnector;
}

// True if a word may start with it. A mark may not.
inline bool starts_word(CharacterClass kind) {
  return is_word_kind(kind) && kind != CharacterClass::kMark;
}

}  // namespace oneiros
