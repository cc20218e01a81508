// What the texts of rows have in common with words and texts, by Unicode characters of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "columns/text_column.h"

namespace oneiros {

// The part of a memory that words are sought in.
enum class Searched : std::uint8_t { kText, kTextAndTags };

// found[i]: how many of `words` are a part of what rows[i] holds, each counted as often as it is
// given; a row without a text has none. Source: docs/systems/omega.md O3, O18, O20.
// REQUIRES: found.size() == rows.size().
void count_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> words, Searched searched,
                 std::span<std::uint32_t> found);

// similarity[i]: Jaccard of the sets of three characters in a row within the first `characters` of
// `text` and of the text of rows[i]; 0 where one has none, or it is below `least`: most rows are
// then left after a few characters. Source: docs/systems/omega.md O1.
// REQUIRES: similarity.size() == rows.size(), least >= 0.
void trigram_similarities(const TextColumn& texts, std::span<const std::uint32_t> rows,
                          std::string_view text, std::size_t characters, double least,
                          std::span<double> similarity);

// first[i]: the first place whose row's text begins with the same `characters` as that of rows[i],
// i itself where none is before it; an empty text is like no other. Source: docs/systems/omega.md
// O26. REQUIRES: first.size() == rows.size() < 2^32.
void first_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::size_t characters, std::span<std::uint32_t> first);

// which[i]: the first place in `sought` of a text that begins with the same `characters` as that of
// rows[i], sought.size() where there is none; an empty text is like no other. One pass over rows.
// Source: docs/systems/omega.md O26. REQUIRES: which.size() == rows.size(), sought.size() < 2^32.
void which_alike(const TextColumn& texts, std::span<const std::uint32_t> rows,
                 std::span<const std::string_view> sought, std::size_t characters,
                 std::span<std::uint32_t> which);

}  // namespace oneiros
