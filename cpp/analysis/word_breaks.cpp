// Word breaking by character classes: one pass with bounded look-ahead. Plain words of letters and
// digits, the usual case, are recognised eight classes at a time.
#include "analysis/word_breaks.h"

#include "analysis/chains.h"
#include "analysis/character_class.h"
#include "analysis/identifiers.h"
#include "analysis/utf8.h"

namespace oneiros {
namespace {

using Kind = CharacterClass;

// The first byte after a character and the marks that follow it.
std::size_t cluster_end(const FoldedText& text, std::size_t i) {
  i = text.next(i);
  while (text.kind(i) == Kind::kMark) {
    ++i;
  }
  return i;
}

// Adds overlapping pairs of a run of unspaced characters, each with the marks that follow it.
std::size_t add_pairs(const FoldedText& text, std::size_t begin, Breaking breaking,
                      TokenList& tokens) {
  std::size_t middle = cluster_end(text, begin);
  if (text.kind(middle) != Kind::kUnspaced) {
    tokens.add_literal(begin, middle);
    return middle;
  }
  while (text.kind(middle) == Kind::kUnspaced) {
    const std::size_t end = cluster_end(text, middle);
    tokens.add_literal(begin, end);
    if (breaking == Breaking::kText) {
      tokens.add_single(begin, middle);
    }
    begin = middle;
    middle = end;
  }
  if (breaking == Breaking::kText) {
    tokens.add_single(begin, middle);
  }
  return middle;
}

// Adds an emoji, or a flag of two regional indicators.
std::size_t add_symbol(const FoldedText& text, std::size_t begin, TokenList& tokens) {
  std::size_t end = text.next(begin);
  if (text.kind(begin) == Kind::kRegional && text.kind(end) == Kind::kRegional) {
    end = text.next(end);
  }
  tokens.add_literal(begin, end);
  return end;
}

std::size_t add_plain_word(const FoldedText& text, std::size_t begin, TokenList& tokens) {
  const std::size_t end = word_end(text, begin);
  const Traits traits(text, {begin, end});
  if (!traits.has_word()) {
    return end;  // a line of underscores
  }
  if (traits.has(Kind::kConnector)) {
    tokens.add_literal(begin, end);
  } else if (traits.has(Kind::kApostrophe)) {
    tokens.add_apostrophe_word(begin, end);
  } else {
    tokens.add_word(begin, end);
  }
  return end;
}

// True if the word before `i` certainly ends there: before a space, or before a full stop and a
// space.
bool is_plain_end(const FoldedText& text, std::size_t i) {
  const Kind kind = text.kind(i);
  return kind == Kind::kSeparator || (kind != Kind::kConnector && kind != Kind::kMark &&
                                      kind != Kind::kHash && text.kind(i + 1) == Kind::kSeparator);
}

// The frequent case, kept short: letters and digits without inner capitals or joiners. Returns
// `begin` if it is anything else.
std::size_t add_bare_word(const FoldedText& text, std::size_t begin, TokenList& tokens) {
  const FoldedText::Run run = text.letters_and_digits(begin);
  if (run.end == begin || run.has_capital || !is_plain_end(text, run.end)) {
    return begin;
  }
  tokens.add_word(begin, run.end);
  return run.end;
}

}  // namespace

// Dispatches by the class of the character at the current position.
void break_words(FoldedText& text, bool identifiers, Breaking breaking, TokenList& tokens) {
  std::size_t i = 0;
  while (i < text.size()) {
    const Kind kind = text.kind(i);
    if (starts_word(kind)) {
      const std::size_t end = add_bare_word(text, i, tokens);
      if (end > i) {
        i = end;
      } else {
        i = identifiers ? add_joined_words(text, i, tokens) : add_plain_word(text, i, tokens);
      }
    } else if (kind == Kind::kUnspaced) {
      i = add_pairs(text, i, breaking, tokens);
    } else if (kind == Kind::kEmoji || kind == Kind::kRegional) {
      i = add_symbol(text, i, tokens);
    } else {
      ++i;
    }
  }
}

std::string without_unspaced(std::string_view utf8) {
  std::string left;
  left.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded read = decode_utf8(utf8, at);
    if (character_record(character_tables.lowered, read.code_point).kind == Kind::kUnspaced) {
      left += ' ';
    } else {
      left += utf8.substr(at, read.length);
    }
    at += read.length;
  }
  return left;
}

}  // namespace oneiros
