// UTF-8 decoding and encoding, defined for any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oneiros {

inline constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code_point;
  std::uint32_t length;  // bytes consumed: 1 to 4
};

// Decodes the character at `at`. A byte that does not start a shortest-form UTF-8 character (a
// stray continuation, an overlong form, half of a surrogate pair, beyond U+10FFFF, truncated) is
// U+FFFD of length 1. REQUIRES: at < text.size().
Decoded decode_utf8(std::string_view text, std::size_t at);

// Writes the character to out[0..3], returns its length. REQUIRES: a scalar value.
std::size_t encode_utf8(char32_t code_point, char* out);

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace oneiros
