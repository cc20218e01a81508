// Tokens of identifiers: the whole first, then its parts at the same and the following positions,
// so that phrases match across an identifier as well as inside it.
#include "analysis/identifiers.h"

#include <string>

#include "analysis/camel_case.h"
#include "analysis/chains.h"

namespace oneiros {
namespace {

using Kind = CharacterClass;

bool is_word_byte(const FoldedText& text, std::size_t i) {
  return is_word_kind(text.kind(i)) || text.kind(i) == Kind::kApostrophe;
}

// Part of a file name, host or version: the text between slashes, colons and @.
bool is_segment_byte(const FoldedText& text, std::size_t i) {
  return is_word_byte(text, i) || text.kind(i) == Kind::kDot || text.kind(i) == Kind::kHyphen;
}

// The next run of bytes that satisfy `is_inside`, from `i` on; {end, end} if there is none.
template <typename IsInside>
Range next_run(const FoldedText& text, std::size_t i, std::size_t end, IsInside is_inside) {
  Range run{i, i};
  while (run.begin < end && !is_inside(text, run.begin)) {
    ++run.begin;
  }
  run.end = run.begin;
  while (run.end < end && is_inside(text, run.end)) {
    ++run.end;
  }
  return run;
}

// A word without connectors: unchanged, or whole and in parts where the case changes.
void add_part(const FoldedText& text, Range part, bool has_apostrophe, TokenList& tokens) {
  if (has_apostrophe) {
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
  const Traits traits(text, word);
  if (!traits.has_word()) {
    return;  // a line of underscores
  }
  const bool has_apostrophe = traits.has(Kind::kApostrophe);
  if (!traits.has(Kind::kConnector)) {
    add_part(text, word, has_apostrophe, tokens);
    return;
  }
  if (!is_added) {
    tokens.add_whole(word.begin, word.end);
  }
  const auto is_inside = [](const FoldedText& in, std::size_t i) {
    return in.kind(i) != Kind::kConnector;
  };
  for (Range part = next_run(text, word.begin, word.end, is_inside); part.begin < part.end;
       part = next_run(text, part.end, word.end, is_inside)) {
    add_part(text, part, has_apostrophe, tokens);
  }
}

// Adds a segment between slashes, colons or @: whole if it is an identifier, then its words.
void add_segment(const FoldedText& text, Range segment, bool is_added, TokenList& tokens) {
  Range word = next_run(text, segment.begin, segment.end, is_word_byte);
  const bool is_single = word == segment;
  if (!is_added && !is_single && Traits(text, segment).is_identifier(false)) {
    tokens.add_whole(segment.begin, segment.end);
  }
  while (word.begin < word.end) {
    add_connected(text, word, is_added && is_single, tokens);
    word = next_run(text, word.end, segment.end, is_word_byte);
  }
}

// Adds a chain of words, as an identifier or as plain words.
void add_chain(const FoldedText& text, Range chain, bool is_rooted, TokenList& tokens) {
  const bool is_whole = Traits(text, chain).is_identifier(is_rooted);
  if (is_whole) {
    tokens.add_whole(chain.begin, chain.end);
  }
  for (Range segment = next_run(text, chain.begin, chain.end, is_segment_byte);
       segment.begin < segment.end;
       segment = next_run(text, segment.end, chain.end, is_segment_byte)) {
    add_segment(text, segment, is_whole && segment == chain, tokens);
  }
}

// Adds "u.s.a." as "usa", and "u.s." with its dot.
void add_abbreviation(FoldedText& text, Range chain, TokenList& tokens) {
  if (text.next(text.next(text.next(chain.begin))) == chain.end) {
    tokens.add_literal(chain.begin, chain.end);
    return;
  }
  std::string letters(text.slice(chain.begin, chain.end));
  std::erase(letters, '.');
  tokens.add_spelling(letters);
}

// The end of "c++" or "c#"; the word's own end if no such sign follows.
std::size_t signed_end(const FoldedText& text, Range word) {
  const std::size_t end = word.end;
  if (text.kind(end) == Kind::kPlus && text.kind(end + 1) == Kind::kPlus &&
      !starts_word(text.kind(end + 2))) {
    return end + 2;
  }
  const bool is_sharp = text.kind(end) == Kind::kHash && text.next(word.begin) == end;
  return is_sharp && !starts_word(text.kind(end + 1)) ? end + 1 : end;
}

// Adds a word that is not part of a chain, with signs such as those of "c++" and "c#".
std::size_t add_lone_word(const FoldedText& text, Range word, TokenList& tokens) {
  const std::size_t end = signed_end(text, word);
  if (end > word.end) {
    tokens.add_whole(word.begin, end);
  }
  add_connected(text, word, false, tokens);
  return end;
}

}  // namespace

std::size_t add_joined_words(FoldedText& text, std::size_t begin, TokenList& tokens) {
  const Range word{begin, word_end(text, begin)};
  const Range url = url_after(text, word.end);
  if (url.begin < url.end) {
    add_connected(text, word, false, tokens);
    add_chain(text, url, true, tokens);
    return url.end;
  }
  const Range chain{begin, chain_end(text, word.end)};
  if (chain == word) {
    return add_lone_word(text, word, tokens);
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
