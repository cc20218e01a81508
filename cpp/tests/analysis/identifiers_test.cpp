#include "analysis/identifiers.h"

#include <doctest/doctest.h>

#include "spelling.h"

using oneiros::testing::positions;
using oneiros::testing::words;

TEST_CASE("identifiers: whole, and in parts from the same position on") {
  CHECK(positions("a snake_case b") == "a/0 snake_case/1 snake/1 case/2 b/3");
  CHECK(positions("src/a/b.py") == "src/a/b.py/0 src/0 a/1 b.py/2 b/2 py/3");
  CHECK(positions("ERR_CONN-42") == "err_conn-42/0 err_conn/0 err/0 conn/1 42/2");
  CHECK(words("v1.2.3") == "v1.2.3 v1 2 3");
  CHECK(words("os.path.join") == "os.path.join os path join");
  CHECK(words("gpt-4 2024-01-15") == "gpt-4 gpt 4 2024-01-15 2024 01 15");
  CHECK(words("__init__") == "__init__ init");
  CHECK(words("std::vector Note: this") == "std::vector std vector note this");
  CHECK(words("C:\\Users\\me") == "c users\\me users me");
}

TEST_CASE("identifiers: the case tells parts") {
  CHECK(words("camelCase PascalCase") == "camelcase camel case pascalcase pascal case");
  CHECK(words("HTTPServer2") == "httpserver2 http server 2");
  CHECK(words("getHTTPResponse") == "gethttpresponse get http response");
  CHECK(words("parse_HTTPHeader") == "parse_httpheader parse httpheader http header");
  CHECK(words("URLs PCs kHz PhD NASA iOS") == "urls pcs khz phd nasa ios");
  CHECK(words("École ÉcoleNormale") == "ecole ecolenormale ecole normale");
  CHECK(words("ABCd") == "abcd ab cd");
}

TEST_CASE("identifiers: paths, and words that only have a slash") {
  CHECK(words("/usr/local/bin") == "usr/local/bin usr local bin");
  CHECK(words("/etc/hosts") == "etc/hosts etc hosts");
  CHECK(words("@scope/pkg") == "scope/pkg scope pkg");
  CHECK(words("../lib/x.so.1") == "lib/x.so.1 lib x.so.1 x so 1");
  CHECK(words("and/or he/she") == "and or he she");
  CHECK(words("either/or-ish") == "either or ish");
  CHECK(words("1/2 24/7") == "1/2 1 2 24/7 24 7");
  CHECK(words("src/a/b.py:42") == "src/a/b.py:42 src a b.py b py 42");
}

TEST_CASE("identifiers: the net") {
  CHECK(words("https://docs.python.org/3/re.html?x=1#re.sub.") ==
        "https docs.python.org/3/re.html?x=1#re.sub docs.python.org docs python org 3 re.html re "
        "html x 1 re.sub re sub");
  CHECK(words("(http://localhost:8080/)") == "http localhost:8080 localhost 8080");
  CHECK(words("john.smith@example.com") ==
        "john.smith@example.com john.smith john smith example.com example com");
  CHECK(words("mailto:me http:// x://") == "mailto me http x");
}

TEST_CASE("identifiers: abbreviations, and names with signs") {
  CHECK(words("U.S.A. e.g. the U.S. J.R.R. Tolkien") == "usa e.g the u.s jrr tolkien");
  CHECK(words("C++ and C# g++") == "c++ c and c# c g++ g");
  CHECK(words("a+b x++y #tag abc#1") == "a b x y tag abc 1");
}

TEST_CASE("identifiers: bare punctuation is none") {
  CHECK(words("_ __ _._ -- // :: . a. .b") == "a b");
  CHECK(words("a--b a..b a::::b") == "a b a b a b");
  CHECK(words("--dry-run $HOME") == "dry run home");
}
