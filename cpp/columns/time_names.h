// Whether a text names a time, as the column names_time holds it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oneiros {

// The words that name a time, and the texts in which one stands. A text names a time by a word of
// the list, capitals or not: a maximal run of the letters a to z; by a word that has a capital,
// such as "May", as a whole word between characters that are neither letters, digits nor
// underscores; or by a year from 1900 to 2099, between characters that are no digits.
//
// Immutable: any number of threads may use one. Source: docs/systems/house.md H13.
class TimeNames {
 public:
  // Throws std::invalid_argument for a word with another character than a letter from a to z, in
  // the second list after a capital.
  TimeNames(std::vector<std::string> words, std::vector<std::string> capitalised);

  // Takes time linear in the length of the text, which may hold any bytes.
  [[nodiscard]] bool stand_in(std::string_view utf8) const;

 private:
  std::vector<std::string> words_;        // ascending
  std::vector<std::string> capitalised_;  // ascending
  std::size_t longest_ = 0;
};

}  // namespace oneiros
