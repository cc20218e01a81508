#include "columns/time_names.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace oneiros {

TEST_CASE("TimeNames: words, words with a capital, and years") {
  const TimeNames names({"week", "ago"}, {"May"});
  for (const char* text : {"last week", "WEEK", "a_week_", "in May", "May", "(May)", "1900",
                           "in 2099,", "v2024x", "\u00e4ago\u00e4", "May\u2019s", "in May\u2026"}) {
    CAPTURE(text);
    CHECK(names.stand_in(text));
  }
  for (const char* text :
       {"", "weeks", "midweek", "may", "MAY", "May1", "_May", "\u00e4May", "May\u00e4", "Mayor",
        "1899", "2100", "12024", "20245", "19", "wee\u212a"}) {
    CAPTURE(text);
    CHECK_FALSE(names.stand_in(text));
  }
}

TEST_CASE("TimeNames: bytes of any kind, and words that it refuses") {
  const TimeNames names({"week"}, {"May"});
  std::string bytes;
  for (int value = 255; value >= 0; --value) {
    bytes.push_back(static_cast<char>(value));
  }
  CHECK_FALSE(names.stand_in(bytes));
  CHECK_FALSE(names.stand_in(std::string(100'000, 'w')));
  CHECK(names.stand_in("\x80\xff May \xe4"));
  for (const char* word : {"", "Week", "we ek", "abcdefghijklmnopq"}) {
    CHECK_THROWS_AS(TimeNames({word}, {}), std::invalid_argument);
  }
  CHECK_THROWS_AS(TimeNames({}, {"may"}), std::invalid_argument);
}

}  // namespace oneiros
