// The canonical form of texts, which ignores markdown, underscores and line breaks.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace oneiros {

// Writes the canonical form of a text given in NFKC and lower case: each of * # ` ~ [ ] ( ) > | _
// becomes a blank, and each run of white space one blank, without any at the ends. Reuses its
// buffer from call to call. Not thread-safe: one object per thread. Linear in the text. Source:
// docs/systems/omega.md O26.
class CanonicalForm {
 public:
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

  // The first `characters` characters of the form. The view is valid until the next call.
  std::string_view of(std::string_view text, std::size_t characters = kWhole);

  // The form of two texts joined by a blank. The view is valid until the next call.
  std::string_view of_both(std::string_view text, std::string_view other);

 private:
  void begin();
  void append(std::string_view text, std::size_t characters);
  std::size_t append_one(std::string_view text, std::size_t at);
  void flush_blank();

  std::string form_;
  std::size_t characters_ = 0;  // in form_
  bool is_blank_due_ = false;   // a blank precedes the next character, if there is one
};

// The first `characters` characters of a UTF-8 text.
std::string_view first_characters(std::string_view text, std::size_t characters);

}  // namespace oneiros
