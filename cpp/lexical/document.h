// What the index keeps of an analysed text: how often each of its terms occurs, and its length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

struct TermFrequency {
  TermId term;
  std::uint32_t frequency;
};

struct Document {
  std::uint32_t row = 0;
  std::uint32_t length = 0;          // occurrences; the length that BM25 normalises by
  std::vector<TermFrequency> terms;  // by term, each once
};

// REQUIRES: fewer than 2^32 occurrences.
Document count_terms(std::uint32_t row, std::span<const Occurrence> occurrences);

}  // namespace oneiros::lexical
