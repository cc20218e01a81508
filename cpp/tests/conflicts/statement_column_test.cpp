#include "conflicts/statement_column.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conflicts/statement.h"

namespace oneiros::conflicts {

namespace {

std::shared_ptr<const StatementReader> reader() {
  return std::make_shared<const StatementReader>(StatementWords{.stop_words = {"i", "the", "at"},
                                                                .cue_words = {"moved", "now"},
                                                                .cues = {{2.0, {"moved to"}}},
                                                                .additions = {"also"},
                                                                .past = {"used to"},
                                                                .relatives = {"sister"},
                                                                .denials = {"not"},
                                                                .numbers = {"two"},
                                                                .dates = {"friday"},
                                                                .topics = {{"work"}, {"live"}},
                                                                .states = {"is"},
                                                                .amounts = {"has"},
                                                                .articles = {"a"},
                                                                .particles = {"de"},
                                                                .headings = {"list"},
                                                                .labels = {"phone"},
                                                                .prepositions = {"at", "in"}});
}

bool are_equal(const Statement& one, const Statement& other) {
  return one.speaker == other.speaker && one.first == other.first && one.second == other.second &&
         one.topics == other.topics && one.subject == other.subject &&
         one.is_amount == other.is_amount && one.value_leads == other.value_leads &&
         one.cue == other.cue && one.word_count == other.word_count && one.adds == other.adds &&
         one.is_past == other.is_past && one.names_relative == other.names_relative &&
         one.denies == other.denies && one.asks == other.asks && one.sizes == other.sizes &&
         one.stems == other.stems;
}

constexpr std::array<std::string_view, 4> kTexts{
    "Ada: my sister moved to Oslo on Friday, not to Rome, with two cats.",
    "I also used to live at 12", "Is it?", "x"};

}  // namespace

TEST_CASE("Statement: packed and unpacked it is the same, and other bytes are none") {
  for (const std::string_view text : kTexts) {
    const Statement read = reader()->read(text);
    std::vector<char> packed;
    pack(read, packed);
    CHECK(are_equal(unpacked({packed.data(), packed.size()}), read));
    for (std::size_t size = 0; size < packed.size(); ++size) {
      CHECK_FALSE(can_conflict(unpacked({packed.data(), size})));
    }
    packed.push_back('x');
    CHECK_FALSE(can_conflict(unpacked({packed.data(), packed.size()})));
  }
}

TEST_CASE("StatementColumn: rows are what was last written, or nothing") {
  StatementColumn column(reader());
  const std::array<std::uint32_t, 4> rows{0, 1, 2, 70'000};
  column.write(rows, kTexts);
  const std::vector<Statement> held = column.at(rows);
  CHECK(are_equal(held[0], reader()->read(kTexts[0])));
  CHECK(are_equal(held[1], reader()->read(kTexts[1])));
  CHECK_FALSE(can_conflict(held[2]));  // it asks
  CHECK(are_equal(held[3], reader()->read(kTexts[3])));
  column.erase(std::array<std::uint32_t, 2>{0, 5});
  CHECK_FALSE(can_conflict(column.at(std::array<std::uint32_t, 1>{0}).front()));
  CHECK_FALSE(can_conflict(column.at(std::array<std::uint32_t, 1>{~0U}).front()));
  CHECK_THROWS_AS(column.write(rows, std::array<std::string_view, 1>{"x"}), std::invalid_argument);
}

TEST_CASE("StatementColumn: readers beside a writer find the former or the new one") {
  StatementColumn column(reader());
  const std::array<std::uint32_t, 1> row{3};
  const std::array<std::string_view, 2> texts{kTexts[0], kTexts[1]};
  const std::array<Statement, 2> wanted{reader()->read(texts[0]), reader()->read(texts[1])};
  column.write(row, std::array{texts[0]});
  std::atomic<bool> is_done = false;
  std::atomic<bool> is_other = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        while (!is_done) {
          const Statement found = column.at(row).front();
          if (!are_equal(found, wanted[0]) && !are_equal(found, wanted[1])) {
            is_other = true;
          }
        }
      });
    }
    for (std::size_t i = 0; i < 2'000; ++i) {
      column.write(row, std::array{texts[i % 2]});
    }
    is_done = true;
  }
  CHECK_FALSE(is_other);
}

}  // namespace oneiros::conflicts
