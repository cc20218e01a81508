#include "analysis/folded_text.h"

#include <algorithm>
#include <array>

#include "analysis/utf8.h"

namespace oneiros {
namespace {

constexpr std::size_t kAscii = 128;
// Room that one character's folding never exceeds: 18 characters of up to 4 bytes.
constexpr std::size_t kLargestFolding = 72;

// Conjoining letters of Hangul and their arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t kLead = 0x1100;
constexpr char32_t kVowel = 0x1161;
constexpr char32_t kTail = 0x11A7;  // no tail
constexpr char32_t kSyllable = 0xAC00;
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;

// The syllable of the two, 0 if they make none.
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
  for (const VoicedKana& kana : character_tables.voiced_kana) {
    if (kana.base == before && kana.mark == mark) {
      return kana.composed;
    }
  }
  return 0;
}

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
      const CharacterRecord& record = character_record(static_cast<char32_t>(i));
      foldings[i] = {static_cast<char>(static_cast<std::int32_t>(i) + record.folding),
                     flags(record.kind, record.is_upper)};
    }
    return foldings;
  }();
  return kept.data();
}

void FoldedText::assign(std::string_view utf8) {
  bytes_.resize(utf8.size());
  classes_.resize(utf8.size());
  size_ = 0;
  std::size_t at = 0;
  while (at < utf8.size()) {
    at = assign_ascii_run(utf8, at);
    if (at < utf8.size()) {
      at = assign_character(utf8, at);
    }
  }
  bytes_.resize(size_ + 1);
  bytes_[size_] = ' ';
  classes_.resize(size_ + kPadding);
  std::fill_n(classes_.data() + size_, kPadding, flags(CharacterClass::kSeparator, false));
}

// Room for the rest of the text is there: what foldings took more was added by assign_character.
std::size_t FoldedText::assign_ascii_run(std::string_view utf8, std::size_t at) {
  const Ascii* foldings = ascii_foldings();
  char* bytes = bytes_.data() + size_;
  std::uint8_t* classes = classes_.data() + size_;
  std::size_t i = at;
  for (; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte >= kAscii) {
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
  const CharacterRecord& record = character_record(read.code_point);
  if (record.length == 1) {
    const auto folded = static_cast<std::int32_t>(read.code_point) + record.folding;
    append(static_cast<char32_t>(folded), record.kind, record.is_upper);
  } else {
    const char32_t* expansion = character_tables.expansions + record.folding;
    for (std::size_t i = 0; i < record.length; ++i) {
      append(expansion[i], character_record(expansion[i]).kind, record.is_upper && i == 0);
    }
  }
  return at + read.length;
}

void FoldedText::append(char32_t code_point, CharacterClass kind, bool is_upper) {
  if (may_compose(code_point) && compose(code_point)) {
    return;
  }
  const std::size_t length = encode_utf8(code_point, bytes_.data() + size_);
  std::fill_n(classes_.data() + size_, length, flags(kind, is_upper));
  size_ += length;
}

// Puts the character into the one before it, where the two make one. All of them take three bytes.
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
