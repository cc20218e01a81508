#include "lexical/occurrence_bytes.h"

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
  append(((std::uint64_t{occurrence.term} + 1) << 2U) + (is_repeat ? 2 : 0) + (step != 1 ? 1 : 0));
  if (step != 1) {
    append(step);
  }
  next_ = occurrence.position + 1;
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
