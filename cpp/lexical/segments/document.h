// The indexed form of a text: terms with frequencies, terms in order, and the length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"
#include "lexical/segments/fields.h"

namespace oneiros::lexical {

// A term of a document with its weighted frequency.
struct TermFrequency {
  TermId term;
  std::uint32_t frequency;  // in units of FieldWeights::part
};

// An analysed document of a row.
struct Document {
  std::uint32_t row = 0;
  // BM25's document length: the sum of FieldWeights::lengths over all occurrences, in the same
  // units; of FieldWeights::parts where that is 0. Single characters of pairs add nothing.
  std::uint32_t length = 0;
  std::vector<TermFrequency> terms = {};       // ascending by term, distinct
  std::vector<std::uint8_t> occurrences = {};  // written by OccurrenceBytes
};

// The occurrences by field index; empty if the document does not have the field.
struct FieldTexts {
  std::span<const Occurrence> fields[kFieldCount];
};

// Counts the terms of a text with fields. REQUIRES: the length fits into 32 bits.
Document count_terms(std::uint32_t row, const FieldTexts& texts, const FieldWeights& weights);

// For a text without other fields.
Document count_terms(std::uint32_t row, std::span<const Occurrence> text);

}  // namespace oneiros::lexical
