// The terms of a document in text order, as bytes. Phrase queries and fields (BM25F) read them, and
// a deletion uses them to decrement the document frequencies.
//
// Format: one varint per occurrence, ((term + 1) << 3) + (4 if the term occurred before in the
// document) + the distance from the previous position if that is 1 to 3. For other distances the
// low two bits are 0 and another varint holds the distance. A document starts in its text field; a
// varint 0 starts the title, a varint 1 the tags. Positions count from 0 in each field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/segments/fields.h"

namespace oneiros::lexical {

// Writes the occurrences of one document.
class OccurrenceBytes {
 public:
  // Starts a field. REQUIRES: the text field, if present, comes first; each field at most once;
  // `field` is a single bit.
  void begin(std::uint8_t field);
  // REQUIRES: positions do not decrease within a field.
  void add(const Occurrence& occurrence, bool is_repeat);

  std::vector<std::uint8_t> take() && { return std::move(bytes_); }

 private:
  void append(std::uint64_t value);

  std::vector<std::uint8_t> bytes_;
  std::uint32_t next_ = 0;  // one after the last position
};

// True if for_each_occurrence() can decode the bytes and meets only terms below `term_count`.
// Accepts any bytes; linear.
bool are_occurrences(std::span<const std::uint8_t> bytes, std::size_t term_count);

// The parts of an occurrence's code. REQUIRES: code > 1.
inline TermId term_of(std::uint64_t code) { return static_cast<TermId>((code >> 3U) - 1); }
inline bool is_repeat(std::uint64_t code) { return (code & 4U) != 0; }
// True if a second varint with the distance follows. For any code.
inline bool has_step(std::uint64_t code) { return code > 1 && (code & 3U) == 0; }

// A decoded occurrence.
struct FieldOccurrence {
  TermId term;
  std::uint32_t position;
  std::uint8_t field;
  bool is_repeat;
};

// Calls visit(occurrence) for each occurrence in the order written. REQUIRES: are_occurrences(), or
// bytes from OccurrenceBytes. There are no bounds checks.
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
    // Modulo 2^32: a part of an identifier may stand at the position of the whole, a distance of 0.
    const std::uint64_t step = (code & 3U) == 0 ? read() : code & 3U;
    const std::uint32_t position = next + static_cast<std::uint32_t>(step - 1);
    visit(FieldOccurrence{
        .term = term_of(code), .position = position, .field = field, .is_repeat = is_repeat(code)});
    next = position + 1;
  }
}

}  // namespace oneiros::lexical
