// The fields of a document and how much each counts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace oneiros::lexical {

// Bits of a field mask.
inline constexpr std::uint8_t kTitleField = 1;
inline constexpr std::uint8_t kTextField = 2;
inline constexpr std::uint8_t kTagsField = 4;
inline constexpr std::uint8_t kAllFields = kTitleField | kTextField | kTagsField;

inline constexpr std::size_t kFieldCount = 3;
// By place: a field's mask is 1 << place.
inline constexpr std::uint8_t kFieldMasks[kFieldCount] = {kTitleField, kTextField, kTagsField};

// BM25F: a document's tf and length are sums over its fields, each occurrence counting as much as
// its field. An occurrence in the text counts 1. Kept in whole parts of 1, so that sums are exact.
struct FieldWeights {
  std::uint32_t parts[kFieldCount] = {1, 1, 1};  // by place
  double part = 1.0;                             // a power of two

  std::uint32_t of(std::uint8_t mask) const { return parts[std::countr_zero(mask)]; }
};

// Throws std::invalid_argument unless both weights are a multiple of 0.25, from 0.25 to 8.
FieldWeights make_field_weights(double title, double tags);

}  // namespace oneiros::lexical
