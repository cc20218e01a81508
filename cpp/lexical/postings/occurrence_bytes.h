// A document's terms in text order, as bytes: what phrases and fields are told by, and what a
// deletion takes back from df.
//
// A varint for each occurrence, ((term + 1) << 3) + (4 if the document has had the term before) +
// how far on from the last its position is, if 1 to 3; else 0, and another varint says how far.
// Documents begin in the text; a varint of 0 says that the title follows, one of 1 the tags. Each
// field counts its positions from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/segments/fields.h"

namespace oneiros::lexical {

class OccurrenceBytes {
 public:
  // REQUIRES: the text comes first, if at all; each field at most once; `field` is a single bit.
  void begin(std::uint8_t field);
  // REQUIRES: positions do not fall within a field.
  void add(const Occurrence& occurrence, bool is_repeat);

  std::vector<std::uint8_t> take() && { return std::move(bytes_); }

 private:
  void append(std::uint64_t value);

  std::vector<std::uint8_t> bytes_;
  std::uint32_t next_ = 0;  // the position after the last
};

// Whether for_each_occurrence() can read the bytes, whatever they are, and finds terms below
// `term_count` only.
bool are_occurrences(std::span<const std::uint8_t> bytes, std::size_t term_count);

// What the code of an occurrence says, which is above 1.
inline TermId term_of(std::uint64_t code) { return static_cast<TermId>((code >> 3U) - 1); }
inline bool is_repeat(std::uint64_t code) { return (code & 4U) != 0; }
// Whether another number says how far on it stands. Of any code.
inline bool has_step(std::uint64_t code) { return code > 1 && (code & 3U) == 0; }

// An occurrence as it is read.
struct FieldOccurrence {
  TermId term;
  std::uint32_t position;
  std::uint8_t field;
  bool is_repeat;
};

// Calls visit(occurrence) for each, in the order they were written.
template <typename Visit>
void for_each_occurrence(std::span<const std::uint8_t> bytes, Visit visit) {
  constexpr unsigned kPayloadBits = 7;
  constexpr std::uint8_t kMore = 1U << kPayloadBits;
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  const auto read = [&at] {
    std::uint64_t value = *at & (kMore - 1U);
    for (unsigned shift = kPayloadBits; (*at++ & kMore) != 0; shift += kPayloadBits) {
      value |= std::uint64_t{*at & (kMore - 1U)} << shift;
    }
    return value;
  };
  std::uint8_t field = kTextField;
  std::uint32_t next = 0;
  while (at != end) {
    const std::uint64_t code = read();
    if (code <= 1) {
      field = code == 0 ? kTitleField : kTagsField;
      next = 0;
      continue;
    }
    // Modulo 2^32: a part of an identifier may stand where the whole does, 0 on.
    const std::uint64_t step = (code & 3U) == 0 ? read() : code & 3U;
    const std::uint32_t position = next + static_cast<std::uint32_t>(step - 1);
    visit(FieldOccurrence{
        .term = term_of(code), .position = position, .field = field, .is_repeat = is_repeat(code)});
    next = position + 1;
  }
}

}  // namespace oneiros::lexical
