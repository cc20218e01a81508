// Validation of parameters. Messages name the parameter, its rule and the value.
#pragma once

#include <string>
#include <string_view>

#include "ranking/rule.h"

namespace oneiros {

// The shortest decimal text that reads back as `value`.
[[nodiscard]] std::string text_of(double value);

// Throws std::invalid_argument("<name>: <words>, got <value>").
[[noreturn]] void refuse(std::string_view name, std::string_view words, double value);

inline void require(bool holds, std::string_view name, std::string_view words, double value) {
  if (!holds) {
    refuse(name, words, value);
  }
}

inline void require(const Rule& rule, std::string_view name, double value) {
  require(rule.allows(value), name, rule.words, value);
}

}  // namespace oneiros
