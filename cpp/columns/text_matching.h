// What the texts of rows have in common with words and texts, by Unicode characters of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "columns/text_column.h"

namespace oneiros {

// found[i]: how many of `words` are a part of the text of rows[i], each counted as often as it is
// given; a row without a text has none. Source: docs/systems/omega.md O3, O20.
// REQUIRES: found.size() == rows.size(), here and below.
void count_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> words, std::span<std::uint32_t> found);

// A word in canonical form, and the stem that is searched for if the word is not found; empty:
// none.
struct WordAndStem {
  std::string_view word;
  std::string_view stem;
};

// found[i]: how many of `words` are a part of the canonical form of the text and tags of rows[i],
// as they are or as their stem. Source: docs/systems/omega.md O18.
void count_canonical_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                           std::span<const WordAndStem> words, std::span<std::uint32_t> found);

// found[i]: how many of `words` are one of the tags of rows[i]. Source: docs/systems/omega.md O20.
void count_tags(const TextColumn& texts, std::span<const std::uint32_t> rows,
                std::span<const std::string_view> words, std::span<std::uint32_t> found);

// similarity[i]: Jaccard of the sets of three characters in a row of `text`, which is in canonical
// form, and of the canonical form of the first `characters` of the text of rows[i]; 0 where one has
// none, or it is below `least`: most rows are then left after a few characters.
// Source: docs/systems/omega.md O1. REQUIRES: similarity.size() == rows.size(), least >= 0.
void trigram_similarities(const TextColumn& texts, std::span<const std::uint32_t> rows,
                          std::string_view text, std::size_t characters, double least,
                          std::span<double> similarity);

// first[i]: the first place whose row's text begins with the same `characters` of the canonical
// form as that of rows[i], i itself where none is before it; an empty form is like no other.
// Source: docs/systems/omega.md O26. REQUIRES: first.size() == rows.size() < 2^32.
void first_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::size_t characters, std::span<std::uint32_t> first);

// which[i]: the first place in `sought`, texts in canonical form, of one that begins with the same
// `characters` as the canonical form of rows[i]; sought.size() where there is none, or the form is
// empty. One pass over rows. Source: docs/systems/omega.md O26.
// REQUIRES: which.size() == rows.size(), sought.size() < 2^32.
void which_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> sought, std::size_t characters,
                 std::span<std::uint32_t> which);

}  // namespace oneiros
