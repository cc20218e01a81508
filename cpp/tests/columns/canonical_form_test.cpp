#include "columns/canonical_form.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/utf8.h"

using oneiros::CanonicalForm;
using oneiros::first_characters;

namespace {

// By definition, a character after the other.
std::string plain_form(std::string_view text) {
  std::string form;
  bool is_due = false;
  for (std::size_t at = 0; at < text.size();) {
    const oneiros::Decoded read = oneiros::decode_utf8(text, at);
    const std::u32string_view blanks =
        U"*#`~[]()>|_ \t\n\v\f\r\x1c\x1d\x1e\x1f\u0085\u1680\u2028\u2029";
    if (blanks.find(read.code_point) != std::u32string_view::npos) {
      is_due = true;
    } else {
      form += is_due && !form.empty() ? " " : "";
      form += text.substr(at, read.length);
      is_due = false;
    }
    at += read.length;
  }
  return form;
}

std::string form_of(std::string_view text, std::size_t characters = CanonicalForm::kWhole) {
  CanonicalForm form;
  return std::string(form.of(text, characters));
}

}  // namespace

TEST_CASE("canonical form: marks and runs of white space are one blank, none at either end") {
  CHECK(form_of("").empty());
  CHECK(form_of(" \t*_`\n").empty());
  CHECK(form_of("# a*b  [c](d)\r\n") == "a b c d");
  CHECK(form_of("~snake_case> | x") == "snake case x");
  CHECK(form_of("a\u00a0b") == "a\u00a0b");  // NFKC leaves none of these
  CHECK(form_of("a\u0085\u1680\u2028\u2029b") == "a b");
  CHECK(form_of("a.b-c:d\"e") == "a.b-c:d\"e");
  CHECK(form_of("a b ", 2) == "a ");
  CHECK(form_of("a  ", 2) == "a");
  CHECK(form_of("ab", 0).empty());
}

TEST_CASE("canonical form: of two texts with a blank between them") {
  CanonicalForm form;
  CHECK(form.of_both("one", "two\nthree") == "one two three");
  CHECK(form.of_both("one ", "") == "one");
  CHECK(form.of_both("", " one") == "one");
  CHECK(form.of_both("", "").empty());
}

TEST_CASE("canonical form: by definition, over every edge of a block and of a character") {
  const std::vector<std::string> pieces{
      "a",          "b",
      " ",          " ",
      "*",          "\n",
      "\u00e9",     "\u0085",
      "\u2028",     "\u4eac",
      "\U0001f600", "\u2019",
      "word",       "a longer piece without any mark or double blank "};
  std::mt19937 random(7);
  for (int round = 0; round < 4'000; ++round) {
    std::string text;
    for (std::size_t count = random() % 40; count > 0; --count) {
      text += pieces[random() % pieces.size()];
    }
    const std::string want = plain_form(text);
    REQUIRE(form_of(text) == want);
    const std::size_t characters = random() % 90;
    REQUIRE(form_of(text, characters) == first_characters(want, characters));
  }
}
