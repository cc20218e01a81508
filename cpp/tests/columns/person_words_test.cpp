#include "columns/person_words.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "columns/text_column.h"

namespace oneiros {

TEST_CASE("count_person_words: words, those of the first and second person, bytes") {
  TextColumn texts;
  const std::vector<std::uint32_t> rows{3, 0, 9};
  const std::vector<MemoryText> held{{.text = "i'm gave my cat and you, yours truly", .tags = "i"},
                                     {.text = "", .tags = ""},
                                     {.text = "\u00fcber us_all: miner thought", .tags = ""}};
  texts.write(rows, held);
  std::vector<PersonWords> found(4);
  count_person_words(texts, std::vector<std::uint32_t>{3, 0, 9, 4}, found);
  CHECK(found[0].words == 9);
  CHECK(found[0].first == 2);
  CHECK(found[0].second == 2);
  CHECK(found[0].bytes == 36);
  CHECK(found[1].words == 0);
  CHECK(found[2].words == 4);
  CHECK(found[2].first == 0);
  CHECK(found[2].second == 0);
  CHECK(found[3].words == 0);
  CHECK(found[3].bytes == 0);
}

}  // namespace oneiros
