// UTF-8 as defined by RFC 3629: overlong forms, surrogates and values beyond U+10FFFF are rejected.
#include "analysis/utf8.h"

namespace oneiros {
namespace {

constexpr Decoded kBad{kReplacement, 1};

// Bytes a character takes by its first byte; 0 where none starts so.
std::uint32_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xC2 || lead > 0xF4) {  // C0 and C1 could only start overlong forms
    return 0;
  }
  if (lead < 0xE0) {
    return 2;
  }
  return lead < 0xF0 ? 3 : 4;
}

bool is_shortest_scalar(char32_t code_point, std::uint32_t length) {
  if (length == 3) {
    return code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF);
  }
  return length != 4 || (code_point >= 0x10000 && code_point <= 0x10FFFF);
}

}  // namespace

Decoded decode_utf8(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::uint32_t length = length_by_lead(lead);
  if (length == 1) {
    return {lead, 1};
  }
  if (length == 0 || text.size() - at < length) {
    return kBad;
  }
  char32_t code_point = lead & (0xFFU >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) {
      return kBad;
    }
    code_point = (code_point << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  return is_shortest_scalar(code_point, length) ? Decoded{code_point, length} : kBad;
}

std::size_t encode_utf8(char32_t code_point, char* out) {
  const auto tail = [code_point](unsigned shift) {
    return static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<char>(0xC0U | (code_point >> 6U));
    out[1] = tail(0);
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<char>(0xE0U | (code_point >> 12U));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0U | (code_point >> 18U));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

}  // namespace oneiros
