#include "lexical/postings/occurrence_bytes.h"

#include <cassert>

namespace oneiros::lexical {

void OccurrenceBytes::begin(std::uint8_t field) {
  if (field != kTextField) {
    append(field == kTitleField ? 0 : 1);
  }
  assert(field != kTextField || bytes_.empty());
  next_ = 0;
}

void OccurrenceBytes::add(const Occurrence& occurrence, bool is_repeat) {
  assert(occurrence.position + 1 >= next_);
  const std::uint32_t step = occurrence.position + 1 - next_;
  const bool is_near = step >= 1 && step <= 3;
  append(((std::uint64_t{occurrence.term} + 1) << 3U) + (is_repeat ? 4 : 0) + (is_near ? step : 0));
  if (!is_near) {
    append(step);
  }
  next_ = occurrence.position + 1;
}

bool are_occurrences(std::span<const std::uint8_t> bytes, std::size_t term_count) {
  constexpr unsigned kPayloadBits = 7;
  constexpr std::uint8_t kMore = 1U << kPayloadBits;
  constexpr unsigned kMostBits = 42;  // six bytes hold the largest term
  std::size_t at = 0;
  const auto read = [&](std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; at != bytes.size() && shift < kMostBits; shift += kPayloadBits) {
      const std::uint8_t byte = bytes[at++];
      value |= static_cast<std::uint64_t>(byte & (kMore - 1U)) << shift;
      if ((byte & kMore) == 0) {
        return true;
      }
    }
    return false;
  };
  while (at != bytes.size()) {
    std::uint64_t code = 0;
    std::uint64_t step = 0;
    if (!read(code)) {
      return false;
    }
    if (code <= 1) {
      continue;  // a field begins
    }
    if ((code >> 3U) == 0 || (code >> 3U) - 1 >= term_count || ((code & 3U) == 0 && !read(step))) {
      return false;
    }
  }
  return true;
}

void OccurrenceBytes::append(std::uint64_t value) {
  constexpr unsigned kPayloadBits = 7;
  constexpr std::uint64_t kMore = 1U << kPayloadBits;
  for (; value >= kMore; value >>= kPayloadBits) {
    bytes_.push_back(static_cast<std::uint8_t>((value & (kMore - 1)) | kMore));
  }
  bytes_.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace oneiros::lexical
