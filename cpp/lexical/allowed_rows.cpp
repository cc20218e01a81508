#include "lexical/allowed_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace oneiros::lexical {

namespace {

// Calls visit(first row, bits) for each eight bytes that are not all 0, until it says false.
template <typename Visit>
void for_each_word(std::span<const std::uint8_t> bits, Visit visit) {
  for (std::size_t at = 0; at < bits.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bits.data() + at, std::min(sizeof(word), bits.size() - at));
    if (word != 0 && !visit(at * 8, word)) {
      return;
    }
  }
}

}  // namespace

std::optional<std::vector<std::uint32_t>> AllowedRows::list(std::size_t most) const {
  if (!bits_) {
    return std::nullopt;
  }
  constexpr std::size_t kMostBytes = std::size_t{1} << 29U;  // a row has 32 bits
  std::vector<std::uint32_t> rows;
  bool are_few = true;
  for_each_word(bits_->first(std::min(bits_->size(), kMostBytes)),
                [&](std::size_t first, std::uint64_t word) {
                  are_few = rows.size() + static_cast<std::size_t>(std::popcount(word)) <= most;
                  for (; are_few && word != 0; word &= word - 1) {
                    rows.push_back(static_cast<std::uint32_t>(
                        first + static_cast<std::size_t>(std::countr_zero(word))));
                  }
                  return are_few;
                });
  return are_few ? std::optional(std::move(rows)) : std::nullopt;
}

}  // namespace oneiros::lexical
