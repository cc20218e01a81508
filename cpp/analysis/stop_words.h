// Words too common in English to tell texts apart.
#pragma once

#include <span>
#include <string_view>

namespace oneiros {

// The 33 words in wide use since Lucene's first English analyzer, in lower case, and three that
// word breaks of at least two letters would drop: "i", "e.g", "i.e".
std::span<const std::string_view> english_stop_words();

}  // namespace oneiros
