// Case rules for words inside words. All functions look at a bounded neighbourhood of a position.
#include "analysis/camel_case.h"

namespace oneiros {
namespace {

constexpr std::size_t kShortest = 4;  // bytes

bool is_small(const FoldedText& text, std::size_t i) {
  return text.kind(i) == CharacterClass::kLetter && !text.was_upper(i);
}

bool is_digit(const FoldedText& text, std::size_t i) {
  return text.kind(i) == CharacterClass::kDigit;
}

// True if small letters follow the capital at `i`, other than a plural s.
bool is_initial(const FoldedText& text, std::size_t i, std::size_t end) {
  const std::size_t after = text.next(i);
  const bool is_plural = after + 1 == end && text.byte(after) == 's';
  return after < end && is_small(text, after) && !is_plural;
}

// True if a capital at `i` starts a part. REQUIRES: i is not the word's first byte.
bool begins_part(const FoldedText& text, std::size_t i, std::size_t end) {
  if (!text.was_upper(i)) {
    return false;
  }
  return is_small(text, i - 1) ||
         ((text.was_upper(i - 1) || is_digit(text, i - 1)) && is_initial(text, i, end));
}

}  // namespace

bool is_camel_case(const FoldedText& text, std::size_t begin, std::size_t end) {
  if (end - begin < kShortest) {
    return false;
  }
  for (std::size_t i = text.next(begin); i < end; i = text.next(i)) {
    if (begins_part(text, i, end)) {
      return true;
    }
  }
  return false;
}

std::size_t camel_part_end(const FoldedText& text, std::size_t begin, std::size_t end) {
  std::size_t i = text.next(begin);
  while (i < end && !begins_part(text, i, end) && is_digit(text, i) == is_digit(text, i - 1)) {
    i = text.next(i);
  }
  return i;
}

}  // namespace oneiros
