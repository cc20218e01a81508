#include "lexical/postings.h"

#include <array>
#include <cassert>
#include <utility>

namespace oneiros::lexical {

void PostingList::look_up(std::span<const DocumentNumber> documents,
                          std::span<std::uint32_t> frequencies) const {
  assert(documents.size() == frequencies.size());
  // Binary searches abreast and without branches: each waits for memory, so several wait at once.
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

SealedPostings::SealedPostings(TermTable slots, std::vector<TermId> terms,
                               std::vector<std::size_t> starts,
                               std::vector<DocumentNumber> documents,
                               std::vector<std::uint32_t> frequencies)
    : slots_(std::move(slots)),
      terms_(std::move(terms)),
      starts_(std::move(starts)),
      documents_(std::move(documents)),
      frequencies_(std::move(frequencies)) {
  assert(slots_.size() == terms_.size());
  assert(starts_.size() == terms_.size() + 1);
  assert(starts_.back() == documents_.size());
  assert(documents_.size() == frequencies_.size());
}

PostingList SealedPostings::list(std::size_t slot) const {
  const std::size_t start = starts_[slot];
  return {documents_.data() + start, frequencies_.data() + start, starts_[slot + 1] - start};
}

PostingList SealedPostings::find(TermId term) const {
  const std::uint32_t slot = slots_.find(term);
  return slot == TermTable::kAbsent ? PostingList{} : list(slot);
}

std::size_t SealedPostings::resident_bytes() const {
  return slots_.resident_bytes() + terms_.capacity() * sizeof(TermId) +
         starts_.capacity() * sizeof(std::size_t) + documents_.capacity() * sizeof(DocumentNumber) +
         frequencies_.capacity() * sizeof(std::uint32_t);
}

}  // namespace oneiros::lexical
