#include "columns/text_column.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "columns/text_matching.h"

using oneiros::MemoryText;
using oneiros::TextColumn;

namespace {

void write_one(TextColumn& column, std::uint32_t row, std::string_view text,
               std::string_view tags = "") {
  const MemoryText held{text, tags};
  column.write(std::span(&row, 1), std::span(&held, 1));
}

std::string text_at(const TextColumn& column, std::uint32_t row) {
  return std::string(TextColumn::Reader(column).at(row).text);
}

}  // namespace

TEST_CASE("text column: rows hold what was written last, and nothing once erased") {
  TextColumn column;
  write_one(column, 3, "first", "a\nb");
  write_one(column, TextColumn::kMostRows - 1, "");
  CHECK(column.size() == 2);
  CHECK(TextColumn::Reader(column).at(3).tags == "a\nb");
  const std::vector<std::uint32_t> rows{3, 4, 3};
  column.write(rows, std::vector<MemoryText>{{"second", ""}, {"other", "x"}, {"third", ""}});
  CHECK(column.size() == 3);
  CHECK(text_at(column, 3) == "third");
  CHECK(text_at(column, 4) == "other");
  CHECK(text_at(column, 5).empty());
  column.erase(std::vector<std::uint32_t>{3, 3, 77, 0xFFFFFFFF});
  CHECK(column.size() == 2);
  CHECK(text_at(column, 3).empty());
  CHECK(text_at(column, 4) == "other");
}

TEST_CASE("text column: what is refused changes nothing") {
  TextColumn column;
  write_one(column, 0, "kept");
  const std::vector<std::uint32_t> rows{0, 1};
  CHECK_THROWS_AS(column.write(rows, std::vector<MemoryText>{{"new", ""}}), std::invalid_argument);
  const std::vector<std::uint32_t> far{0, TextColumn::kMostRows};
  CHECK_THROWS_AS(column.write(far, std::vector<MemoryText>{{"new", ""}, {"far", ""}}),
                  std::invalid_argument);
  CHECK(column.size() == 1);
  CHECK(text_at(column, 0) == "kept");
}

TEST_CASE("text column: what was replaced is given back") {
  TextColumn column;
  const std::string large(std::size_t{1} << 18, 'x');
  write_one(column, 1, "small");
  const std::size_t before = column.resident_bytes();
  for (int i = 0; i < 64; ++i) {
    write_one(column, 0, large + std::to_string(i));
  }
  CHECK(text_at(column, 0) == large + "63");
  CHECK(text_at(column, 1) == "small");
  CHECK(column.resident_bytes() < before + (std::size_t{4} << 20));
}

TEST_CASE("text column: words, trigrams and first characters") {
  TextColumn column;
  write_one(column, 0, "the quick fox", "speed");
  write_one(column, 1, "gr\xC3\xBC\xC3\x9F");  // grüß
  write_one(column, 2, "the quick fox, again");
  const std::vector<std::uint32_t> rows{0, 1, 2, 9};
  std::vector<std::uint32_t> found(rows.size());
  const std::vector<std::string_view> words{"quick", "spee", "\xC3\xBC"};
  oneiros::count_words(column, rows, words, found);
  CHECK(found == std::vector<std::uint32_t>{1, 1, 1, 0});
  std::vector<double> similarity(rows.size());
  oneiros::trigram_similarities(column, rows, "gr\xC3\xBC\xC3\x9F!", 200, 2.0 / 3.0, similarity);
  CHECK(similarity == std::vector<double>{0.0, 2.0 / 3.0, 0.0, 0.0});
  oneiros::trigram_similarities(column, rows, "gr\xC3\xBC\xC3\x9F!", 200, 0.67, similarity);
  CHECK(similarity == std::vector<double>{0.0, 0.0, 0.0, 0.0});
  oneiros::trigram_similarities(column, rows, "the quick", 9, 0.0, similarity);
  CHECK(similarity == std::vector<double>{1.0, 0.0, 1.0, 0.0});
  // Of 18 trigrams the first text holds 11.
  oneiros::trigram_similarities(column, rows, "the quick fox, again", 200, 11.0 / 18.0, similarity);
  CHECK(similarity == std::vector<double>{11.0 / 18.0, 0.0, 1.0, 0.0});
  oneiros::trigram_similarities(column, rows, "the quick fox", 200, 11.0 / 18.0, similarity);
  CHECK(similarity == std::vector<double>{1.0, 0.0, 11.0 / 18.0, 0.0});
  std::vector<std::uint32_t> first(rows.size());
  oneiros::first_alike(column, rows, 13, first);
  CHECK(first == std::vector<std::uint32_t>{0, 1, 0, 3});
  oneiros::first_alike(column, rows, 14, first);
  CHECK(first == std::vector<std::uint32_t>{0, 1, 2, 3});
  const std::vector<std::string_view> sought{"gr\xC3\xBC", "", "the quick foxes", "the quick fo"};
  oneiros::which_alike(column, rows, sought, 13, first);
  CHECK(first == std::vector<std::uint32_t>{2, 4, 2, 4});
  oneiros::which_alike(column, rows, sought, 3, first);
  CHECK(first == std::vector<std::uint32_t>{2, 0, 2, 4});
}

TEST_CASE("text matching: words or their stems in the canonical form, and tags") {
  TextColumn column;
  write_one(column, 0, "see `parse_config`,\nthen **deploy**", "Snake\ncase study");
  write_one(column, 1, "parse  config");
  const std::vector<std::uint32_t> rows{0, 1, 9};
  std::vector<std::uint32_t> found(rows.size());
  const std::vector<oneiros::WordAndStem> words{
      {"parse config", ""}, {"deployment", "deploy"}, {"configs", "config"}, {"case study", ""}};
  oneiros::count_canonical_words(column, rows, words, found);
  CHECK(found == std::vector<std::uint32_t>{4, 2, 0});
  const std::vector<std::string_view> tags{"case study", "case", "Snake", "parse"};
  oneiros::count_tags(column, rows, tags, found);
  CHECK(found == std::vector<std::uint32_t>{2, 0, 0});
}

TEST_CASE("text matching: starts and trigrams are those of the canonical form") {
  TextColumn column;
  write_one(column, 0, "# one  *two*\n");
  write_one(column, 1, "one two");
  write_one(column, 2, "***");
  write_one(column, 3, "```");
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  std::vector<std::uint32_t> first(rows.size());
  oneiros::first_alike(column, rows, 150, first);
  CHECK(first == std::vector<std::uint32_t>{0, 0, 2, 3});  // an empty form is like no other
  const std::vector<std::string_view> sought{"", "one t"};
  oneiros::which_alike(column, rows, sought, 5, first);
  CHECK(first == std::vector<std::uint32_t>{1, 1, 2, 2});
  std::vector<double> similarity(rows.size());
  oneiros::trigram_similarities(column, rows, "one two", 200, 0.5, similarity);
  CHECK(similarity == std::vector<double>{1.0, 1.0, 0.0, 0.0});
  // Cut to eight characters first, "# one  *" is "one".
  oneiros::trigram_similarities(column, rows, "one", 8, 0.5, similarity);
  CHECK(similarity == std::vector<double>{1.0, 0.0, 0.0, 0.0});
}

TEST_CASE("text matching: words and starts at every place, over every edge of a block") {
  TextColumn column;
  const std::vector<std::uint32_t> rows{0, 1};
  std::vector<std::uint32_t> found(rows.size());
  std::vector<std::uint32_t> first(rows.size());
  for (std::size_t length = 0; length <= 100; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      for (const std::string_view word : {"q", "ab", "bab",
                                          "\xC3\xBC"
                                          "a"}) {
        if (at + word.size() > length) {
          continue;
        }
        std::string text(length, 'a');
        text.replace(at, word.size(), word);
        std::string cut = text;
        cut[at + word.size() / 2] = '.';
        write_one(column, 0, text);
        write_one(column, 1, cut);
        const std::vector<std::string_view> words{word};
        oneiros::count_words(column, rows, words, found);
        REQUIRE(found[0] == 1);
        REQUIRE(found[1] == (cut.find(word) == std::string::npos ? 0 : 1));
      }
    }
    // The characters before the one that differs are one fewer than those of "\xC3\xBC" and after.
    const std::string start(length, 'a');
    write_one(column, 0,
              start +
                  "\xC3\xBC"
                  "b");
    write_one(column, 1,
              start +
                  "\xC3\xBC"
                  "c");
    oneiros::first_alike(column, rows, length + 1, first);
    REQUIRE(first[1] == 0);
    oneiros::first_alike(column, rows, length + 2, first);
    REQUIRE(first[1] == 1);
  }
}

TEST_CASE("text column: readers beside one that appends, replaces and erases") {
  TextColumn column;
  const auto text_of = [](std::uint32_t row) { return std::string(40 + row % 50, 'a') + "b"; };
  std::atomic<bool> is_done = false;
  std::atomic<bool> is_torn = false;
  std::vector<std::jthread> threads;
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      while (!is_done) {
        const TextColumn::Reader locked(column);
        for (std::uint32_t row = 0; row < 300; ++row) {
          const std::string_view text = locked.at(row).text;
          if (!text.empty() && text != text_of(row)) {
            is_torn = true;
          }
        }
      }
    });
  }
  for (std::uint32_t i = 0; i < 700; ++i) {
    write_one(column, i % 300, text_of(i % 300), std::string(5'000, 't'));
    if (i % 7 == 0) {
      column.erase(std::vector<std::uint32_t>{i % 300});
    }
  }
  is_done = true;
  threads.clear();
  CHECK(!is_torn);
  CHECK(column.size() > 200);
}
