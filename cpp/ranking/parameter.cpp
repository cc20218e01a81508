// Error messages of parameters; numbers in the shortest form that reads back equal.
#include "ranking/parameter.h"

#include <array>
#include <charconv>
#include <stdexcept>

namespace oneiros {

std::string text_of(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  static_cast<void>(error);  // 32 characters hold every double
  return {digits.data(), end};
}

void refuse(std::string_view name, std::string_view rule, double value) {
  throw std::invalid_argument(std::string(name) + ": " + std::string(rule) + ", got " +
                              text_of(value));
}

}  // namespace oneiros
