// Comparison of rows' texts with words and texts. Characters are Unicode code points of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "columns/text_column.h"

namespace oneiros {

// found[i]: the number of `words` that occur in the text of rows[i], also inside longer words; a
// repeated word counts each time. 0 for a row without a text. Source: docs/systems/omega.md O3,
// O20. REQUIRES, here and below: found.size() == rows.size().
void count_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> words, std::span<std::uint32_t> found);

// A word in canonical form, and the stem to look for if the word is not found; empty: none.
struct WordAndStem {
  std::string_view word;
  std::string_view stem;
};

// found[i]: the number of `words` that occur, themselves or by their stem, in the canonical form of
// the text and tags of rows[i]. Source: docs/systems/omega.md O18.
void count_canonical_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                           std::span<const WordAndStem> words, std::span<std::uint32_t> found);

// found[i]: the number of `words` that equal a tag of rows[i]. Source: docs/systems/omega.md O20.
void count_tags(const TextColumn& texts, std::span<const std::uint32_t> rows,
                std::span<const std::string_view> words, std::span<std::uint32_t> found);

// similarity[i]: the Jaccard similarity of the character trigrams of `text`, which is in canonical
// form, and of the canonical form of the first `characters` of rows[i]'s text. 0 if either has none
// or the similarity is below `least`; a bound by counts rejects most rows early. Source:
// docs/systems/omega.md O1. REQUIRES: similarity.size() == rows.size(), least >= 0.
void trigram_similarities(const TextColumn& texts, std::span<const std::uint32_t> rows,
                          std::string_view text, std::size_t characters, double least,
                          std::span<double> similarity);

// first[i]: the first place whose row's canonical form starts with the same `characters` as that of
// rows[i]; i itself if there is no earlier one. An empty form equals no other. Source:
// docs/systems/omega.md O26. REQUIRES: first.size() == rows.size() < 2^32.
void first_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::size_t characters, std::span<std::uint32_t> first);

// which[i]: the first place in `sought`, texts in canonical form, whose start equals that of
// rows[i] in `characters` characters; sought.size() if there is none or the form is empty. One pass
// over rows. Source: docs/systems/omega.md O26.
// REQUIRES: which.size() == rows.size(), sought.size() < 2^32.
void which_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> sought, std::size_t characters,
                 std::span<std::uint32_t> which);

}  // namespace oneiros
