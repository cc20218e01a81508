// Any bytes are searched for a path as JSON: what is found lies within them.
#include "encoding/json_path.h"

#include <string>
#include <vector>

#include "fuzz/target.h"

using namespace oneiros;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<JsonPath> paths = {{.keys = {"a"}, .whole_key = {}},
                                              {.keys = {"a", "b"}, .whole_key = "a.b"},
                                              {.keys = {"a", "b", "c", "d"}, .whole_key = {}},
                                              {.keys = {""}, .whole_key = {}},
                                              {.keys = {"\xC3\xA9"}, .whole_key = "a\"b"}};
  const std::string_view object = fuzz::text_of(data, size);
  for (const JsonPath& path : paths) {
    const JsonFinding found = find_json(object, path);
    if (found.kind == JsonFinding::Kind::kValue) {
      require(!found.value.empty(), "a value has bytes");
      require(found.value.data() >= object.data() &&
                  found.value.data() + found.value.size() <= object.data() + object.size(),
              "a value lies within its object");
    }
  }
  return 0;
}
