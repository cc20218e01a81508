// The value at a path in a JSON object, found without parsing the rest: one pass over the bytes.
//
// Filters on metadata index a path over all stored objects, most of whose bytes they do not need.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oneiros {

// A path through objects; lists are not entered.
struct JsonPath {
  // One key for each level, as UTF-8.
  std::vector<std::string> keys;
  // A key of the outermost object that comes before `keys`; unused if empty.
  std::string whole_key;
};

struct JsonFinding {
  enum class Kind : std::uint8_t {
    kNothing,
    kValue,
    // The bytes are not JSON as far as they were read, or a key has an escape: parse them.
    kUnclear,
  };
  Kind kind = Kind::kNothing;
  // The bytes of the value, within the object's. They are delimited, not validated.
  std::string_view value;
};

// The value at a path in the JSON of an object. Of equal keys, the last counts. Any bytes are read
// safely and without recursion.
[[nodiscard]] JsonFinding find_json(std::string_view object, const JsonPath& path);

}  // namespace oneiros
