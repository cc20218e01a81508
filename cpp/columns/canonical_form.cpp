// Canonical forms in one pass. Stretches of a text that are canonical already, usually most of it,
// are found first and appended as blocks; only the characters between them are examined one by one.
#include "columns/canonical_form.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "analysis/utf8.h"

namespace oneiros {

namespace {

// ASCII characters that become a blank: the marks, and white space.
constexpr std::array<bool, 128> kIsAsciiBlank = [] {
  std::array<bool, 128> is_blank{};
  for (const char letter : std::string_view("*#`~[]()>|_ \t\n\v\f\r\x1c\x1d\x1e\x1f")) {
    is_blank[static_cast<std::size_t>(letter)] = true;
  }
  return is_blank;
}();

// White space beyond ASCII that NFKC leaves.
bool is_wide_blank(char32_t character) {
  return character == 0x85 || character == 0x1680 || character == 0x2028 || character == 0x2029;
}

// Bytes that are kept: not a blank, and not the first byte of a multi-byte one.
constexpr std::array<bool, 256> kStays = [] {
  std::array<bool, 256> stays{};
  for (std::size_t byte = 0; byte < stays.size(); ++byte) {
    const bool begins_blank = byte == 0xC2 || byte == 0xE1 || byte == 0xE2;
    stays[byte] = byte < 0x80 ? !kIsAsciiBlank[byte] : !begins_blank;
  }
  return stays;
}();

bool stays(char byte) { return kStays[static_cast<unsigned char>(byte)]; }

// The prefix of a text that is already in canonical form, including single blanks between words.
std::string_view staying(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && stays(text[at])) {
      ++at;
    }
    if (at + 1 >= text.size() || text[at] != ' ' || !stays(text[at + 1])) {
      return text.substr(0, at);
    }
    at += 2;
  }
}

// A lower bound of the number of ASCII bytes at the start of a text.
std::size_t ascii_length(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    if ((eight & 0x8080'8080'8080'8080U) != 0) {
      break;
    }
  }
  return at;
}

}  // namespace

std::string_view CanonicalForm::of(std::string_view text, std::size_t characters) {
  begin();
  append(text, characters);
  return first_characters(form_, characters);
}

std::string_view CanonicalForm::of_both(std::string_view text, std::string_view other) {
  begin();
  append(text, kWhole);
  is_blank_due_ = true;
  append(other, kWhole);
  return form_;
}

void CanonicalForm::begin() {
  form_.clear();
  characters_ = 0;
  is_blank_due_ = false;
}

// Stops when the form has at least that many characters.
void CanonicalForm::append(std::string_view text, std::size_t characters) {
  constexpr std::size_t kMostBytes = 4;  // of a character
  for (std::size_t at = 0; at < text.size() && characters_ < characters;) {
    if (!stays(text[at])) {
      at = append_one(text, at);
      continue;
    }
    const std::size_t most = characters - characters_;
    const std::size_t reach = most < kWhole / kMostBytes ? kMostBytes * most : kWhole;
    const std::string_view run = staying(text.substr(at, reach));
    flush_blank();
    form_ += run;
    characters_ += static_cast<std::size_t>(
        std::ranges::count_if(run, [](char byte) { return !is_continuation(byte); }));
    at += run.size();
  }
}

// Appends the character at `at`; returns the position after it.
std::size_t CanonicalForm::append_one(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const Decoded read = byte < 0x80 ? Decoded{byte, 1} : decode_utf8(text, at);
  if (byte < 0x80 ? kIsAsciiBlank[byte] : is_wide_blank(read.code_point)) {
    is_blank_due_ = true;
  } else {
    flush_blank();
    form_.append(text, at, read.length);
    ++characters_;
  }
  return at + read.length;
}

void CanonicalForm::flush_blank() {
  if (is_blank_due_ && !form_.empty()) {
    form_.push_back(' ');
    ++characters_;
  }
  is_blank_due_ = false;
}

std::string_view first_characters(std::string_view text, std::size_t characters) {
  std::size_t at = ascii_length(text.substr(0, characters));
  for (characters -= at; at < text.size() && characters > 0; --characters) {
    at += decode_utf8(text, at).length;
  }
  return text.substr(0, at);
}

}  // namespace oneiros
