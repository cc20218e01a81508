// One pass over the texts; each word is compared with a few short ones.
#include "columns/person_words.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <string_view>

#include "columns/each_text.h"
#include "columns/each_word.h"

namespace oneiros {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kFirst = {"i"sv,  "me"sv, "my"sv,  "mine"sv, "myself"sv,
                               "we"sv, "us"sv, "our"sv, "ours"sv, "ourselves"sv};
constexpr std::array kSecond = {"you"sv, "your"sv, "yours"sv, "yourself"sv, "yourselves"sv};
constexpr std::size_t kLongestWord = 10;

}  // namespace

void count_person_words(const TextColumn& texts, std::span<const std::uint32_t> rows,
                        std::span<PersonWords> found) {
  assert(found.size() == rows.size());
  const TextColumn::Reader reader(texts);
  for_each_text(reader, rows, [&](std::size_t i, const MemoryText& memory) {
    PersonWords counted{.bytes = static_cast<std::uint32_t>(memory.text.size())};
    for_each_word<1>(memory.text, [&](std::string_view word) {
      ++counted.words;
      if (word.size() <= kLongestWord) {
        counted.first += std::ranges::find(kFirst, word) != kFirst.end() ? 1 : 0;
        counted.second += std::ranges::find(kSecond, word) != kSecond.end() ? 1 : 0;
      }
    });
    found[i] = counted;
  });
}

}  // namespace oneiros
