#include "analysis/utf8.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using oneiros::decode_utf8;
using oneiros::Decoded;
using oneiros::encode_utf8;
using oneiros::kReplacement;

namespace {

void check(std::string_view bytes, char32_t code_point, std::uint32_t length) {
  const Decoded read = decode_utf8(bytes, 0);
  CHECK(read.code_point == code_point);
  CHECK(read.length == length);
}

}  // namespace

TEST_CASE("utf8: every scalar value survives encoding and decoding") {
  std::array<char, 4> bytes{};
  std::size_t wrong = 0;
  for (char32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point == 0xD800) {
      code_point = 0xE000;
    }
    const std::size_t length = encode_utf8(code_point, bytes.data());
    const Decoded read = decode_utf8({bytes.data(), length}, 0);
    wrong += static_cast<std::size_t>(read.code_point != code_point || read.length != length);
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf8: a byte that starts no character is a replacement of its own") {
  check("\x80", kReplacement, 1);              // stray continuation
  check("\xC0\xAF", kReplacement, 1);          // overlong /
  check("\xC1\xBF", kReplacement, 1);          // overlong
  check("\xE0\x80\xAF", kReplacement, 1);      // overlong
  check("\xF0\x80\x80\xAF", kReplacement, 1);  // overlong
  check("\xED\xA0\x80", kReplacement, 1);      // lone surrogate U+D800
  check("\xED\xBF\xBF", kReplacement, 1);      // lone surrogate U+DFFF
  check("\xF4\x90\x80\x80", kReplacement, 1);  // U+110000
  check("\xF5\x80\x80\x80", kReplacement, 1);
  check("\xFF", kReplacement, 1);
  check("\xC3", kReplacement, 1);          // cut off
  check("\xE2\x82", kReplacement, 1);      // cut off
  check("\xF0\x9F\x98", kReplacement, 1);  // cut off
  check("\xC3(", kReplacement, 1);         // continuation missing
  check("\xF4\x8F\xBF\xBF", 0x10FFFF, 4);
  check(std::string_view("\0", 1), 0, 1);
}
