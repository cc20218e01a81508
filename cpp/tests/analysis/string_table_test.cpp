#include "analysis/string_table.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using oneiros::StringTable;

TEST_CASE("string table: numbers in order of insertion, views that stay") {
  StringTable table;
  const std::string_view first = table.at(table.insert("alpha"));
  std::size_t wrong = 0;
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    wrong += static_cast<std::size_t>(table.insert("w" + std::to_string(i)) != i);
  }
  CHECK(wrong == 0);
  CHECK(table.insert("w777") == 777);
  CHECK(table.size() == 100'000);
  CHECK(first == "alpha");
  CHECK(table.find("alpha") == 0);
  CHECK(table.find("w99999") == 99'999);
  CHECK(table.find("w100000") == StringTable::kAbsent);
  CHECK(table.at(12'345) == "w12345");
}

TEST_CASE("string table: strings that share their first bytes, and trailing zeros, differ") {
  StringTable table;
  std::size_t wrong = 0;
  for (std::size_t length = 0; length < 600; ++length) {  // all zeros but for the length
    wrong += static_cast<std::size_t>(table.insert(std::string(length, '\0')) != length);
  }
  for (std::size_t length = 0; length < 600; ++length) {
    wrong += static_cast<std::size_t>(table.find(std::string(length, '\0')) != length);
  }
  CHECK(wrong == 0);
  const std::uint32_t longer = table.insert("identifiers");
  CHECK(table.find("identifiable") == StringTable::kAbsent);
  CHECK(table.find("identifi") == StringTable::kAbsent);
  CHECK(table.find("identifiers") == longer);
}

TEST_CASE("string table: a string may be larger than a block of the arena") {
  StringTable table;
  const std::string large(1'000'000, 'x');
  CHECK(table.at(table.insert(large)) == large);
  CHECK(table.at(table.insert("after")) == "after");
  CHECK(table.at(0) == large);
  CHECK(table.resident_bytes() > large.size());
}
