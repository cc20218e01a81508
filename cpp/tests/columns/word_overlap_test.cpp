#include "columns/word_overlap.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "columns/each_word.h"
#include "columns/text_column.h"

using oneiros::TextColumn;

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  oneiros::for_each_word(text, [&](std::string_view word) { words.push_back(word); });
  return words;
}

}  // namespace

TEST_CASE("words: runs of letters, digits and underscores of three characters or more") {
  using Words = std::vector<std::string_view>;
  CHECK(words_of("") == Words{});
  CHECK(words_of("a no yes") == Words{"yes"});
  CHECK(words_of("(snake_case) x1y2-abc") == Words{"snake_case", "x1y2", "abc"});
  CHECK(words_of("été où straße") == Words{"été", "straße"});
  CHECK(words_of("東京タワー、大阪") == Words{"東京タワー"});
  CHECK(words_of("the the") == Words{"the", "the"});
  CHECK(words_of("abc\xff\xc3") == Words{"abc"});  // no UTF-8: no letter
}

TEST_CASE("word overlap: the largest Jaccard with another row of the group") {
  TextColumn column;
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  column.write(
      rows,
      std::vector<oneiros::MemoryText>{
          {"black coffee", ""}, {"black coffee black tea", ""}, {"black coffee", ""}, {"", ""}});
  const std::vector<std::int64_t> groups{7, 7, -1, 7};
  std::vector<double> overlap(4, 0.0);
  oneiros::largest_word_overlaps(column, {rows, groups}, {rows, groups}, overlap);
  CHECK(overlap == std::vector<double>{2.0 / 3.0, 2.0 / 3.0, 0.0, 0.0});
}
