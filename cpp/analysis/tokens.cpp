// Token rules that depend on language: elided articles (French, Italian), English clitics,
// apostrophes, and the limit of length.
#include "analysis/tokens.h"

#include <algorithm>
#include <array>

#include "analysis/analyzer.h"
#include "analysis/utf8.h"

namespace oneiros {
namespace {

constexpr std::size_t kLimit = Analyzer::kMaxTokenBytes;

// French and Italian articles and pronouns that are elided before a vowel: l'avion, dell'arte.
constexpr std::array<std::string_view, 24> kElided = {
    "l",  "d",   "c",    "j",    "m",    "n",    "s",    "t",  "qu",  "jusqu", "lorsqu", "puisqu",
    "un", "all", "dall", "dell", "nell", "sull", "coll", "gl", "agl", "degl",  "negl",   "quoiqu"};
constexpr std::size_t kLongestElided = 6;
constexpr std::size_t kShortestLeft = 3;
constexpr std::size_t kShortestRight = 2;
// English forms of be, have, will and would, and the possessive: they add no content, and "it's"
// must be found by "it". "n't" is not among them: it negates.
constexpr std::array<std::string_view, 6> kClitics = {"'s", "'m", "'d", "'re", "'ve", "'ll"};

template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

void TokenList::clear() {
  tokens_.clear();
  position_ = 0;
  cut_count_ = 0;
}

void TokenList::add(std::size_t begin, std::size_t end, std::uint32_t position, bool is_literal) {
  const std::size_t stop = end - begin > kLimit ? cut(begin) : end;
  tokens_.push_back({begin, static_cast<std::uint32_t>(stop - begin), position, is_literal, false});
}

void TokenList::add_single(std::size_t begin, std::size_t end) {
  const std::size_t cut_count = cut_count_;
  add(begin, end, position_ - 1, true);
  tokens_.back().is_single = true;
  cut_count_ = cut_count;  // of the bigram's cut
}

// The end of a token that is too long: before the character that would exceed the limit.
std::size_t TokenList::cut(std::size_t begin) {
  ++cut_count_;
  std::size_t end = begin + kLimit;
  while (is_continuation(text_->byte(end))) {
    --end;
  }
  return end;
}

void TokenList::add_apostrophe_word(std::size_t begin, std::size_t end) {
  for (const std::string_view clitic : kClitics) {
    if (text_->slice(begin, end).ends_with(clitic)) {
      end -= clitic.size();
      break;
    }
  }
  for (std::size_t next = after_apostrophe(begin, end); next > begin;
       next = after_apostrophe(begin, end)) {
    const std::string_view left = text_->slice(begin, next - 1);
    if (left.size() > kLongestElided || !holds(kElided, left)) {
      add_word(begin, next - 1);
    }
    begin = next;
  }
  add_word(begin, end);
}

// The position after the first apostrophe if an article or a separate word precedes it; otherwise
// `begin`. Three letters make a word ("Ankara'dan", quotes adjacent to words), except in Cyrillic,
// where the apostrophe is part of the spelling.
std::size_t TokenList::after_apostrophe(std::size_t begin, std::size_t end) const {
  const std::string_view word = text_->slice(begin, end);
  const std::size_t left = word.find('\'');
  if (left == std::string_view::npos || left == 0 || word.size() - left < kShortestRight + 1) {
    return begin;
  }
  const std::string_view right = word.substr(left + 1);
  const bool is_elided = left <= kLongestElided && holds(kElided, word.substr(0, left));
  const bool is_ascii = static_cast<unsigned char>(word[left - 1]) < 0x80;
  const bool is_word = is_ascii && left >= kShortestLeft && right.find('\'') >= kShortestRight;
  return is_elided || is_word ? begin + left + 1 : begin;
}

// Omitted if the limit cuts off what makes it an identifier: it then equals its first part.
void TokenList::add_whole(std::size_t begin, std::size_t end) {
  bool is_word = end - begin > kLimit;
  for (std::size_t i = begin; is_word && i < begin + kLimit; ++i) {
    const CharacterClass kind = text_->kind(i);
    is_word = kind != CharacterClass::kConnector && is_word_kind(kind);
  }
  if (!is_word) {
    add(begin, end, position_, true);
  }
}

void TokenList::add_spelling(std::string_view word) {
  const std::size_t begin = text_->append_surface(word);
  add_word(begin, begin + word.size());
}

}  // namespace oneiros
