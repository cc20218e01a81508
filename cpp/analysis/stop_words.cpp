#include "analysis/stop_words.h"

#include <array>

namespace oneiros {

std::span<const std::string_view> english_stop_words() {
  static constexpr std::array<std::string_view, 36> kWords = {
      "a",    "an",    "and",   "are",  "as",   "at", "be",  "but",  "by",   "for",  "if",  "in",
      "into", "is",    "it",    "no",   "not",  "of", "on",  "or",   "such", "that", "the", "their",
      "then", "there", "these", "they", "this", "to", "was", "will", "with", "i",    "e.g", "i.e"};
  return kWords;
}

}  // namespace oneiros
