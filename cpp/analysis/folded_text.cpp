// Folding: case folding and compatibility decomposition by generated tables, in one pass.
//
// Runs of ASCII, most of most texts, go through a table of 128 entries. Other characters are
// decoded, mapped by a two-stage table (character_class.h) and composed with the preceding
// character where that is required: Hangul syllables, voiced kana, and accents if they stay.
// Composed and decomposed spellings thus give the same bytes. The output has a parallel array of
// classes, so that later stages never decode UTF-8 again. Unicode Standard Annex #15 describes the
// forms.
#include "analysis/folded_text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace oneiros {
namespace {

constexpr std::size_t kAscii = 128;
constexpr char32_t kDotlessI = 0x131;
constexpr char32_t kNonJoiner = 0x200C;  // zero-width
// Room that one character's folding never exceeds: 18 characters of up to 4 bytes.
constexpr std::size_t kLargestFolding = 72;

// Conjoining Hangul letters and their arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t kLead = 0x1100;
constexpr char32_t kVowel = 0x1161;
constexpr char32_t kTail = 0x11A7;  // no tail
constexpr char32_t kSyllable = 0xAC00;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;

// The syllable of both, or 0 if there is none.
char32_t hangul(char32_t before, char32_t code_point) {
  if (before - kLead < kLeadCount && code_point - kVowel < kVowelCount) {
    return kSyllable + ((before - kLead) * kVowelCount + (code_point - kVowel)) * kTailCount;
  }
  const char32_t syllable = before - kSyllable;
  const bool is_open =
      syllable < kLeadCount * kVowelCount * kTailCount && syllable % kTailCount == 0;
  const bool is_tail = code_point > kTail && code_point < kTail + kTailCount;
  return is_open && is_tail ? before + (code_point - kTail) : 0;
}

char32_t voiced(char32_t before, char32_t mark) {
  for (const Composition& kana : character_tables.voiced_kana) {
    if (kana.base == before && kana.mark == mark) {
      return kana.composed;
    }
  }
  return 0;
}

// The composition of a letter and a mark, or 0.
char32_t accented(char32_t before, char32_t mark) {
  const std::span<const Composition> pairs = character_tables.accented;
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), std::pair(before, mark),
                                      [](const Composition& pair, const auto& key) {
                                        return std::pair(pair.base, pair.mark) < key;
                                      });
  const bool is_found = found != pairs.end() && found->base == before && found->mark == mark;
  return is_found ? found->composed : 0;
}

bool is_arabic(char32_t code_point) { return code_point >= 0x600 && code_point < 0x700; }

bool may_compose(char32_t code_point) {
  return (code_point >= kVowel && code_point < kTail + kTailCount) || code_point == 0x3099 ||
         code_point == 0x309A;
}

}  // namespace

struct FoldedText::Ascii {
  char byte;
  std::uint8_t flags;
};

std::uint8_t FoldedText::flags(CharacterClass kind, bool is_upper) {
  const bool is_plain = kind == CharacterClass::kLetter || kind == CharacterClass::kDigit;
  return static_cast<std::uint8_t>(static_cast<unsigned>(kind) | (is_upper ? kUpperBit : 0U) |
                                   (is_plain ? kLetterOrDigitBit : 0U));
}

const FoldedText::Ascii* FoldedText::ascii_foldings() {
  static const std::array<Ascii, kAscii> kept = [] {
    std::array<Ascii, kAscii> foldings{};
    for (std::size_t i = 0; i < kAscii; ++i) {
      const CharacterRecord& record =
          character_record(character_tables.folded, static_cast<char32_t>(i));
      foldings[i] = {static_cast<char>(static_cast<std::int32_t>(i) + record.folding),
                     flags(record.kind, record.is_upper)};
    }
    return foldings;
  }();
  return kept.data();
}

void FoldedText::assign(std::string_view utf8, Folding folding) {
  has_accents_ = folding != Folding::kFull;
  if (folding == Folding::kTurkishLower) {
    assign_all<true>(utf8);
  } else {
    assign_all<false>(utf8);
  }
}

template <bool is_turkish>
void FoldedText::assign_all(std::string_view utf8) {
  bytes_.resize(utf8.size());
  classes_.resize(utf8.size());
  size_ = 0;
  std::size_t at = 0;
  while (at < utf8.size()) {
    at = assign_ascii_run<is_turkish>(utf8, at);
    if (at < utf8.size()) {
      at = assign_character(utf8, at);
    }
  }
  bytes_.resize(size_ + 1);
  bytes_[size_] = ' ';
  classes_.resize(size_ + kPadding);
  std::fill_n(classes_.data() + size_, kPadding, flags(CharacterClass::kSeparator, false));
}

// There is room for the rest of the text: assign_character has added what expansions need. ASCII
// folds equally with and without accents.
template <bool is_turkish>
std::size_t FoldedText::assign_ascii_run(std::string_view utf8, std::size_t at) {
  const Ascii* foldings = ascii_foldings();
  char* bytes = bytes_.data() + size_;
  std::uint8_t* classes = classes_.data() + size_;
  std::size_t i = at;
  for (; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte >= kAscii || (is_turkish && byte == 'I')) {
      break;
    }
    *bytes++ = foldings[byte].byte;
    *classes++ = foldings[byte].flags;
  }
  size_ += i - at;
  return i;
}

std::size_t FoldedText::assign_character(std::string_view utf8, std::size_t at) {
  const Decoded read = decode_utf8(utf8, at);
  const std::size_t wanted = size_ + kLargestFolding + (utf8.size() - at);
  if (bytes_.size() < wanted) {
    const std::size_t grown = wanted + wanted / 2;
    bytes_.resize(grown);
    classes_.resize(grown);
  }
  if (read.code_point == 'I') {  // the one ASCII letter that may come here
    append(kDotlessI, CharacterClass::kLetter, true);
    return at + read.length;
  }
  const CharacterStages& stages = has_accents_ ? character_tables.lowered : character_tables.folded;
  const CharacterRecord& record = character_record(stages, read.code_point);
  if (record.length == 0) {
    if (!compose_accent(read.code_point) && is_stem_border(utf8, at, read)) {
      append(kNonJoiner, CharacterClass::kMark, false);
    }
  } else if (record.length == 1) {
    const auto folded = static_cast<std::int32_t>(read.code_point) + record.folding;
    append(static_cast<char32_t>(folded), record.kind, record.is_upper);
  } else {
    const char32_t* expansion = character_tables.expansions + record.folding;
    for (std::size_t i = 0; i < record.length; ++i) {
      append(expansion[i], character_record(stages, expansion[i]).kind, record.is_upper);
    }
  }
  return at + read.length;
}

void FoldedText::append(char32_t code_point, CharacterClass kind, bool is_upper) {
  const bool is_composed = (may_compose(code_point) && compose(code_point)) ||
                           (kind == CharacterClass::kMark && compose_accent(code_point));
  if (is_composed) {
    return;
  }
  const std::size_t length = encode_utf8(code_point, bytes_.data() + size_);
  std::fill_n(classes_.data() + size_, length, flags(kind, is_upper));
  size_ += length;
}

// Composes the character with the previous one if possible. All results take three bytes.
bool FoldedText::compose(char32_t code_point) {
  if (size_ < 3 || kind(size_ - 1) != CharacterClass::kUnspaced) {
    return false;
  }
  const char32_t before = last_of_three_bytes();
  const bool is_mark = code_point >= 0x3000;
  const char32_t composed = is_mark ? voiced(before, code_point) : hangul(before, code_point);
  if (composed == 0) {
    return false;
  }
  encode_utf8(composed, bytes_.data() + size_ - 3);
  return true;
}

// A zero-width non-joiner between Arabic letters separates a stem from its affixes; Persian
// stemmers need it.
bool FoldedText::is_stem_border(std::string_view utf8, std::size_t at, const Decoded& read) const {
  const std::size_t after = at + read.length;
  return has_accents_ && read.code_point == kNonJoiner && size_ > 0 && after < utf8.size() &&
         kind(size_ - 1) == CharacterClass::kLetter &&
         is_arabic(decode_utf8({bytes_.data(), size_}, start_of_last()).code_point) &&
         is_arabic(decode_utf8(utf8, after).code_point);
}

std::size_t FoldedText::start_of_last() const {
  std::size_t begin = size_ - 1;
  while (begin > 0 && is_continuation(bytes_[begin])) {
    --begin;
  }
  return begin;
}

// The same where accents stay: results of any length.
bool FoldedText::compose_accent(char32_t mark) {
  if (!has_accents_ || size_ == 0) {
    return false;
  }
  const std::size_t begin = start_of_last();
  const Decoded last = decode_utf8({bytes_.data(), size_}, begin);
  const char32_t composed = accented(last.code_point, mark);
  if (composed == 0) {
    return false;
  }
  const std::uint8_t flags = classes_[begin];
  size_ = begin + encode_utf8(composed, bytes_.data() + begin);
  std::fill_n(classes_.data() + begin, size_ - begin, flags);
  return true;
}

char32_t FoldedText::last_of_three_bytes() const {
  const Decoded last = decode_utf8({bytes_.data(), size_}, size_ - 3);
  return last.length == 3 ? last.code_point : kReplacement;
}

std::size_t FoldedText::next(std::size_t i) const {
  ++i;
  while (i < size_ && is_continuation(bytes_[i])) {
    ++i;
  }
  return i;
}

std::size_t FoldedText::append_surface(std::string_view surface) {
  const std::size_t begin = bytes_.size();
  bytes_.insert(bytes_.end(), surface.begin(), surface.end());
  return begin;
}

}  // namespace oneiros
