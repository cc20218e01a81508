// A folded text: lower case, compatibility forms replaced, accents removed unless they are to stay;
// in UTF-8, with the character class of every byte.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "analysis/character_class.h"
#include "analysis/utf8.h"

namespace oneiros {

// How a text is folded.
enum class Folding : std::uint8_t {
  kFull,
  kLower,         // accents stay, for stemmers that depend on them; also NFC
  kTurkishLower,  // the same, with I as the capital of dotless i
};

// Reuses its memory from text to text. Not thread-safe. Folding is linear and table-driven.
class FoldedText {
 public:
  // Replaces the content by the folding of `utf8`, which may be up to kLargestGrowth times as long.
  // Invalid UTF-8 separates words. Composed and decomposed spellings fold equally.
  void assign(std::string_view utf8, Folding folding = Folding::kFull);

  std::size_t size() const { return size_; }

  // The class of the byte at `i`, equal for all bytes of a character; kSeparator at size().
  CharacterClass kind(std::size_t i) const {
    return static_cast<CharacterClass>(classes_[i] & kClassBits);
  }
  // True if the character at `i` was an upper-case letter. False at size().
  bool was_upper(std::size_t i) const { return (classes_[i] & kUpperBit) != 0; }

  char byte(std::size_t i) const { return bytes_[i]; }

  // A run of letters and digits: its end, and whether it has a capital after its first byte.
  struct Run {
    std::size_t end;
    bool has_capital;
  };
  Run letters_and_digits(std::size_t begin) const;

  // The first byte after the character at `i`. REQUIRES: i < size().
  std::size_t next(std::size_t i) const;

  // A part of the folded text or of appended surfaces. Valid until the next assign or
  // append_surface.
  std::string_view slice(std::size_t begin, std::size_t end) const {
    return {bytes_.data() + begin, end - begin};
  }

  // Appends a surface that does not occur in the text; returns its start.
  std::size_t append_surface(std::string_view surface);

  std::size_t capacity() const { return bytes_.capacity() + classes_.capacity(); }

  static constexpr std::size_t kLargestGrowth = 12;  // U+FDFA: 3 bytes to 33

 private:
  static constexpr std::uint8_t kClassBits = 0x1F;
  static constexpr std::uint8_t kLetterOrDigitBit = 0x40;
  static constexpr std::uint8_t kUpperBit = 0x80;

  static std::uint8_t flags(CharacterClass kind, bool is_upper);
  // The folding of an ASCII character with its flags.
  // Folding of ASCII by table, and of a run of it.
  struct Ascii;
  static const Ascii* ascii_foldings();
  template <bool is_turkish>
  void assign_all(std::string_view utf8);
  template <bool is_turkish>
  std::size_t assign_ascii_run(std::string_view utf8, std::size_t at);
  // Folds one character and returns the position after it.
  std::size_t assign_character(std::string_view utf8, std::size_t at);
  void append(char32_t code_point, CharacterClass kind, bool is_upper);
  // Compose a character with the previous one; return false if they do not combine.
  bool compose(char32_t code_point);
  bool compose_accent(char32_t mark);
  // True if a zero-width non-joiner at `at` separates a stem from an affix.
  bool is_stem_border(std::string_view utf8, std::size_t at, const Decoded& read) const;
  std::size_t start_of_last() const;  // of the last character; REQUIRES: size_ > 0
  char32_t last_of_three_bytes() const;

  static constexpr std::size_t kPadding = 8;  // of classes_, which are read eight at a time

  std::vector<char> bytes_;            // the text (size_ bytes), a space, then appended surfaces
  std::vector<std::uint8_t> classes_;  // class and flags; separators past size_
  std::size_t size_ = 0;
  bool has_accents_ = false;  // accents stay in this text
};

inline FoldedText::Run FoldedText::letters_and_digits(std::size_t begin) const {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::uint64_t upper = kEach * kUpperBit - kUpperBit;  // not of the first byte
  std::uint64_t capitals = 0;
  std::size_t end = begin;
  while (true) {
    std::uint64_t classes = 0;
    std::memcpy(&classes, classes_.data() + end, sizeof(classes));
    const std::uint64_t others = ~classes & (kEach * kLetterOrDigitBit);
    if (others != 0) {
      const auto bit = static_cast<unsigned>(std::countr_zero(others));  // bit 6 of the first other
      capitals |= classes & upper & ((std::uint64_t{1} << bit) - 1);
      end += bit / 8;
      break;
    }
    capitals |= classes & upper;
    upper = kEach * kUpperBit;
    end += sizeof(classes);
  }
  return {end, capitals != 0};
}

}  // namespace oneiros
