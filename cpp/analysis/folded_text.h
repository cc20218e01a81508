// A text after folding: lower case, no accents, compatibility forms made plain; UTF-8 with the
// character class of every byte beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/character_class.h"

namespace oneiros {

class FoldedText {
 public:
  // Replaces the content by the folding of `utf8`; bytes that are not UTF-8 part words. The result
  // is at most kLargestGrowth times as long. Strong order: canonically equal texts fold alike as
  // far as their marks are dropped, Hangul or kana.
  void assign(std::string_view utf8);

  std::size_t size() const { return size_; }

  // Class of the byte at `i`, the same for all bytes of a character; kSeparator at size().
  CharacterClass kind(std::size_t i) const {
    return static_cast<CharacterClass>(classes_[i] & kClassBits);
  }
  // Was the character at `i` an upper-case letter? False at size().
  bool was_upper(std::size_t i) const { return (classes_[i] & kUpperBit) != 0; }

  char byte(std::size_t i) const { return bytes_[i]; }

  // First byte after the character at `i`. REQUIRES: i < size().
  std::size_t next(std::size_t i) const;

  // Valid until the next assign or append_surface; may reach into appended surfaces.
  std::string_view slice(std::size_t begin, std::size_t end) const {
    return {bytes_.data() + begin, end - begin};
  }

  // Keeps a surface that stands nowhere in the text, behind it; returns where it begins.
  std::size_t append_surface(std::string_view surface);

  std::size_t capacity() const { return bytes_.capacity() + classes_.capacity(); }

  static constexpr std::size_t kLargestGrowth = 12;  // U+FDFA: 3 bytes to 33

 private:
  static constexpr std::uint8_t kClassBits = 0x1F;
  static constexpr std::uint8_t kUpperBit = 0x80;

  std::size_t assign_ascii_run(std::string_view utf8, std::size_t at);
  std::size_t assign_character(std::string_view utf8, std::size_t at);
  void append(char32_t code_point, CharacterClass kind, bool is_upper);
  bool compose(char32_t code_point);
  char32_t last_of_three_bytes() const;

  std::vector<char> bytes_;            // size_ of the text, then appended surfaces
  std::vector<std::uint8_t> classes_;  // class, with kUpperBit
  std::size_t size_ = 0;
};

}  // namespace oneiros
