#include "encoding/json_path.h"

#include <cstddef>

namespace oneiros {

namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

// Reads tokens from the front of JSON. A failed call leaves it at the place of the failure.
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t at() const { return at_; }

  // Whether the next byte after white space is this one, which is then skipped.
  bool skip(char byte) {
    skip_space();
    if (at_ == bytes_.size() || bytes_[at_] != byte) {
      return false;
    }
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < bytes_.size() && is_space(bytes_[at_])) {
      ++at_;
    }
  }

  // Skips a string whose opening quote was skipped; `has_escape` becomes true if it has one.
  bool skip_string(bool& has_escape) {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '"') {
        ++at_;
        return true;
      }
      if (bytes_[at_] == '\\') {
        has_escape = true;
        ++at_;
      }
    }
    return false;
  }

  // Skips a value, of which brackets and strings end where they should.
  bool skip_value() {
    const std::size_t start = at_;
    std::size_t depth = 0;
    bool has_escape = false;
    while (at_ < bytes_.size()) {
      const char byte = bytes_[at_];
      if (depth == 0 && (byte == ',' || byte == '}' || byte == ']' || is_space(byte))) {
        break;
      }
      ++at_;
      if (byte == '"' && !skip_string(has_escape)) {
        return false;
      }
      if (byte == '{' || byte == '[') {
        ++depth;
      } else if (byte == '}' || byte == ']') {
        --depth;  // not 0 before: that ends the loop
      }
    }
    return depth == 0 && at_ > start;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

constexpr JsonFinding kUnclear{JsonFinding::Kind::kUnclear, {}};

// The values of two keys among the members of an object. An empty key is looked for, too.
struct Members {
  bool is_clear = false;
  JsonFinding first;
  JsonFinding second;
};

Members members_of(std::string_view object, std::string_view first, const std::string* second) {
  Members found;
  JsonTokens tokens(object);
  if (!tokens.skip('{')) {
    return found;
  }
  if (tokens.skip('}')) {
    found.is_clear = true;
    return found;
  }
  while (true) {
    if (!tokens.skip('"')) {
      return found;
    }
    const std::size_t key_start = tokens.at();
    bool has_escape = false;
    if (!tokens.skip_string(has_escape) || has_escape) {
      return found;
    }
    const std::string_view key = object.substr(key_start, tokens.at() - key_start - 1);
    if (!tokens.skip(':')) {
      return found;
    }
    tokens.skip_space();
    const std::size_t value_start = tokens.at();
    if (!tokens.skip_value()) {
      return found;
    }
    const JsonFinding value{JsonFinding::Kind::kValue,
                            object.substr(value_start, tokens.at() - value_start)};
    if (key == first) {
      found.first = value;
    }
    if (second != nullptr && key == *second) {
      found.second = value;
    }
    if (tokens.skip('}')) {
      found.is_clear = true;
      return found;
    }
    if (!tokens.skip(',')) {
      return found;
    }
  }
}

}  // namespace

JsonFinding find_json(std::string_view object, const JsonPath& path) {
  JsonFinding found{JsonFinding::Kind::kValue, object};
  for (std::size_t level = 0; level < path.keys.size(); ++level) {
    const bool is_outermost = level == 0;
    if (!is_outermost && found.value.front() != '{') {
      return {};
    }
    const bool has_whole = is_outermost && !path.whole_key.empty();
    const Members members =
        members_of(found.value, path.keys[level], has_whole ? &path.whole_key : nullptr);
    if (!members.is_clear) {
      return kUnclear;
    }
    if (members.second.kind == JsonFinding::Kind::kValue) {
      return members.second;
    }
    found = members.first;
    if (found.kind != JsonFinding::Kind::kValue) {
      return found;
    }
  }
  return found;
}

}  // namespace oneiros
