// What the index keeps of analysed texts: their terms in order, how often each occurs, the length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/segments/fields.h"

namespace oneiros::lexical {

struct TermFrequency {
  TermId term;
  std::uint32_t frequency;  // in parts, as FieldWeights has them
};

struct Document {
  std::uint32_t row = 0;
  std::uint32_t length = 0;                    // the same of all occurrences; BM25 normalises by it
  std::vector<TermFrequency> terms = {};       // by term, each once
  std::vector<std::uint8_t> occurrences = {};  // as OccurrenceBytes writes them
};

// By place, as kFieldMasks has them; empty where the document has no such field.
struct FieldTexts {
  std::span<const Occurrence> fields[kFieldCount];
};

// REQUIRES: the length fits 32 bits.
Document count_terms(std::uint32_t row, const FieldTexts& texts, const FieldWeights& weights);

// Of a text alone.
Document count_terms(std::uint32_t row, std::span<const Occurrence> text);

}  // namespace oneiros::lexical
