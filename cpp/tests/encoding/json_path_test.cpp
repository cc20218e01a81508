#include "encoding/json_path.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Kind = oneiros::JsonFinding::Kind;

// The value at a path, "" if there is none, "?" if the bytes must be parsed.
std::string value_at(std::string_view object, std::vector<std::string> keys,
                     std::string whole = "") {
  const auto found = oneiros::find_json(object, {std::move(keys), std::move(whole)});
  return found.kind == Kind::kUnclear ? "?" : std::string(found.value);
}

constexpr std::string_view kObject =
    R"({"a":1,"b":{"c":[1,{"a":2}],"d":"x}\"],","e":{}},"a.b":null,"f":[],"":-1.5e3})";

}  // namespace

TEST_CASE("json_path: values of every kind are found") {
  CHECK(value_at(kObject, {"a"}) == "1");
  CHECK(value_at(kObject, {"b", "c"}) == R"([1,{"a":2}])");
  CHECK(value_at(kObject, {"b", "d"}) == R"("x}\"],")");
  CHECK(value_at(kObject, {"b", "e"}) == "{}");
  CHECK(value_at(kObject, {"f"}) == "[]");
  CHECK(value_at(kObject, {""}) == "-1.5e3");
  CHECK(value_at(kObject, {"c"}).empty());
  CHECK(value_at(kObject, {"a", "b"}).empty());
  CHECK(value_at(kObject, {"f", "b"}).empty());
  CHECK(value_at("{}", {"a"}).empty());
}

TEST_CASE("json_path: a whole key comes before a path, and the last of equal keys counts") {
  CHECK(value_at(kObject, {"b", "c"}, "a.b") == "null");
  CHECK(value_at(kObject, {"b", "c"}, "b.c") == R"([1,{"a":2}])");
  CHECK(value_at(R"({"a":1,"a":2})", {"a"}) == "2");
  CHECK(value_at(" { \"a\" :\n[ 1 ] , \"b\" : true } ", {"a"}) == "[ 1 ]");
  CHECK(value_at(" { \"a\" :\n[ 1 ] , \"b\" : true } ", {"b"}) == "true");
}

TEST_CASE("json_path: what is not clear is left to a parser") {
  for (const std::string_view bytes :
       {"", "1", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":,}", "{\"a\":[}",
        "{\"a\":\"x}", "{a:1}", R"({"\u0061":1})", R"({"a\)"}) {
    CHECK(value_at(bytes, {"a"}) == "?");
  }
}

TEST_CASE("json_path: any bytes are read within bounds") {
  for (std::size_t end = 0; end <= kObject.size(); ++end) {
    const std::string cut(kObject.substr(0, end));  // on the heap, where sanitizers see its end
    for (const char byte : {'"', '\\', '{', '}', '[', ']', ',', ':', '\0'}) {
      std::string changed = cut;
      if (end > 0) {
        changed[end / 2] = byte;
      }
      const auto found = oneiros::find_json(changed, {{"b", "c"}, "a.b"});
      CHECK(found.value.size() <= changed.size());
    }
  }
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK(value_at(deep, {"a"}).size() == 200'000);
}
