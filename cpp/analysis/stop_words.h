// Words too common in English to tell texts apart.
#pragma once

#include <span>
#include <string_view>

namespace oneiros {

// The list in wide use since Lucene's first English analyzer: 33 words, lower case.
std::span<const std::string_view> english_stop_words();

}  // namespace oneiros
