// Counting of terms by sorting (term, position) pairs packed into 64 bits.
#include "lexical/segments/document.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lexical/postings/occurrence_bytes.h"

namespace oneiros::lexical {

namespace {

// In the order in which they are written.
constexpr std::size_t kTextPlace = 1;
constexpr std::size_t kPlaces[kFieldCount] = {kTextPlace, 0, 2};

}  // namespace

Document count_terms(std::uint32_t row, const FieldTexts& texts, const FieldWeights& weights) {
  std::size_t count = 0;
  for (const std::span<const Occurrence> occurrences : texts.fields) {
    count += occurrences.size();
  }
  // Term and position in one number: after sorting, a term's first entry is its first occurrence.
  std::vector<std::uint64_t> sorted;
  std::vector<std::uint32_t> worth;
  std::uint32_t all = 0;
  std::uint32_t counted = 0;
  sorted.reserve(count);
  worth.reserve(count);
  for (const std::size_t place : kPlaces) {
    for (const Occurrence& occurrence : texts.fields[place]) {
      sorted.push_back(std::uint64_t{occurrence.term} << 32U | worth.size());
      worth.push_back(weights.parts[place]);
      if (!occurrence.is_single) {
        all += weights.parts[place];
        counted += weights.lengths[place];
      }
    }
  }
  std::ranges::sort(sorted);
  // A document with terms has a length, also where all of them are in a title that adds none.
  Document document{
      .row = row, .length = counted == 0 ? all : counted, .terms = {}, .occurrences = {}};
  document.terms.reserve(count);
  std::vector<bool> is_repeat(count);
  for (const std::uint64_t one : sorted) {
    const auto term = static_cast<TermId>(one >> 32U);
    const auto at = static_cast<std::uint32_t>(one);
    is_repeat[at] = !document.terms.empty() && document.terms.back().term == term;
    if (!is_repeat[at]) {
      document.terms.push_back({.term = term, .frequency = 0});
    }
    document.terms.back().frequency += worth[at];
  }
  OccurrenceBytes bytes;
  std::size_t at = 0;
  for (const std::size_t place : kPlaces) {
    if (!texts.fields[place].empty()) {
      bytes.begin(kFieldMasks[place]);
    }
    for (const Occurrence& occurrence : texts.fields[place]) {
      bytes.add(occurrence, is_repeat[at++]);
    }
  }
  document.occurrences = std::move(bytes).take();
  return document;
}

Document count_terms(std::uint32_t row, std::span<const Occurrence> text) {
  FieldTexts texts{};
  texts.fields[kTextPlace] = text;
  return count_terms(row, texts, {});
}

}  // namespace oneiros::lexical
