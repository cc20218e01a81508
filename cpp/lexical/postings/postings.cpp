#include "lexical/postings/postings.h"

#include <array>
#include <cassert>

namespace oneiros::lexical {

void PostingList::look_up(std::span<const DocumentNumber> documents,
                          std::span<std::uint32_t> frequencies) const {
  assert(documents.size() == frequencies.size());
  // Eight branch-free binary searches in lockstep: each waits for memory, so they wait together.
  constexpr std::size_t kAbreast = 8;
  std::array<DocumentNumber, kAbreast> sought{};
  std::array<std::size_t, kAbreast> at{};
  for (std::size_t begin = 0; begin < documents.size(); begin += kAbreast) {
    const std::size_t count = std::min(kAbreast, documents.size() - begin);
    std::copy_n(documents.data() + begin, count, sought.data());
    at.fill(0);
    for (std::size_t left = size_; left > 1;) {
      const std::size_t half = left / 2;
      for (std::size_t i = 0; i < kAbreast; ++i) {
        at[i] += documents_[at[i] + half - 1] < sought[i] ? half : 0;
      }
      left -= half;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_there = size_ != 0 && documents_[at[i]] == sought[i];
      frequencies[begin + i] = is_there ? frequencies_[at[i]] : 0;
    }
  }
}

}  // namespace oneiros::lexical
