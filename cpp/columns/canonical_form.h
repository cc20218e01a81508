// The canonical form of texts: markdown, underscores and line ends make no difference.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace oneiros {

// Writes the canonical form of texts in NFKC and lower case: each of * # ` ~ [ ] ( ) > | _ becomes
// a blank; each run of white space becomes one blank, with none at either end. Source:
// docs/systems/omega.md O26.
class CanonicalForm {
 public:
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

  // The first `characters` of the form. The view is valid until the next call of either method.
  std::string_view of(std::string_view text, std::size_t characters = kWhole);

  // The form of two texts with a blank between them.
  std::string_view of_both(std::string_view text, std::string_view other);

 private:
  void begin();
  void append(std::string_view text, std::size_t characters);
  std::size_t append_one(std::string_view text, std::size_t at);
  void flush_blank();

  std::string form_;
  std::size_t characters_ = 0;  // of form_
  bool is_blank_due_ = false;   // before the next character, if there is one
};

// The first `characters` of a text.
std::string_view first_characters(std::string_view text, std::size_t characters);

}  // namespace oneiros
