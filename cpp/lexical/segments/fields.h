// The fields of a document and their weights.
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
// By index: a field's mask is 1 << index.
inline constexpr std::uint8_t kFieldMasks[kFieldCount] = {kTitleField, kTextField, kTagsField};

// BM25F weights: a document's frequencies and length are weighted sums over its fields. The text
// has weight 1. Weights are stored as integers in units of `part`, so that sums are exact.
struct FieldWeights {
  std::uint32_t parts[kFieldCount] = {1, 1, 1};    // in frequencies, by index
  std::uint32_t lengths[kFieldCount] = {1, 1, 1};  // in the length, by index
  double part = 1.0;                               // the unit, a power of two

  std::uint32_t of(std::uint8_t mask) const { return parts[std::countr_zero(mask)]; }
};

// `title_length` is the share of the title's weight that counts in the length. Throws
// std::invalid_argument unless both weights are multiples of 0.25 from 0.25 to 8, the share is in
// [0, 1], and its product with the title's weight is a multiple of 0.25.
FieldWeights make_field_weights(double title, double tags, double title_length = 1.0);

}  // namespace oneiros::lexical
