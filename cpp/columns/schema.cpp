#include "columns/schema.h"

#include <unordered_map>

namespace oneiros {

std::optional<Column> column_named(std::string_view name) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, Column> by_name;
    for (std::size_t i = 0; i < kColumnCount; ++i) {
      by_name.emplace(kColumns[i].name, static_cast<Column>(i));
    }
    return by_name;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace oneiros
