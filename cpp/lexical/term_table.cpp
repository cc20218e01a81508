#include "lexical/term_table.h"

#include <algorithm>
#include <bit>

namespace oneiros::lexical {

namespace {
constexpr std::size_t kSmallestCapacity = 16;
constexpr std::uint32_t kGoldenRatio = 0x9E3779B9U;  // 2^32 / phi spreads neighbours apart
}  // namespace

std::size_t TermTable::locate(TermId term) const {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = static_cast<std::uint32_t>(term * kGoldenRatio) >> shift_;
  while (entries_[at].slot != kAbsent && entries_[at].term != term) {
    at = (at + 1) & mask;
  }
  return at;
}

std::uint32_t TermTable::find(TermId term) const {
  return entries_.empty() ? kAbsent : entries_[locate(term)].slot;
}

std::uint32_t TermTable::find_or_insert(TermId term) {
  reserve(size_ + 1);
  Entry& entry = entries_[locate(term)];
  if (entry.slot == kAbsent) {
    entry = {.term = term, .slot = static_cast<std::uint32_t>(size_++)};
  }
  return entry.slot;
}

void TermTable::reserve(std::size_t term_count) {
  if (2 * term_count > entries_.size()) {
    rehash(std::max(kSmallestCapacity, std::bit_ceil(2 * term_count)));
  }
}

void TermTable::rehash(std::size_t capacity) {
  std::vector<Entry> former(capacity);
  former.swap(entries_);
  shift_ = 32U - static_cast<unsigned>(std::countr_zero(capacity));
  for (const Entry& entry : former) {
    if (entry.slot != kAbsent) {
      entries_[locate(entry.term)] = entry;
    }
  }
}

}  // namespace oneiros::lexical
