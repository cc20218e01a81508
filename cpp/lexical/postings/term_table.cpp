// Fibonacci hashing with linear probing over atomic entries of eight bytes.
#include "lexical/postings/term_table.h"

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
  while (true) {
    const Entry entry = entries_[at].load(std::memory_order_relaxed);
    if (entry.slot == kAbsent || entry.term == term) {
      return at;
    }
    at = (at + 1) & mask;
  }
}

std::uint32_t TermTable::find(TermId term) const {
  if (entries_.empty()) {
    return kAbsent;
  }
  // Loaded again with acquire: a reader that sees a slot also sees what was written before it.
  const Entry entry = entries_[locate(term)].load(std::memory_order_acquire);
  return entry.term == term ? entry.slot : kAbsent;  // otherwise it was free a moment ago
}

std::uint32_t TermTable::find_or_insert(TermId term) {
  reserve(size_ + 1);
  std::atomic<Entry>& place = entries_[locate(term)];
  Entry entry = place.load(std::memory_order_relaxed);
  if (entry.slot == kAbsent) {
    entry = {.term = term, .slot = static_cast<std::uint32_t>(size_++)};
    place.store(entry, std::memory_order_release);
  }
  return entry.slot;
}

void TermTable::reserve(std::size_t term_count) {
  if (2 * term_count > entries_.size()) {
    std::vector<std::atomic<Entry>> former(
        std::max(kSmallestCapacity, std::bit_ceil(2 * term_count)));
    former.swap(entries_);
    fill_from(former);
  }
}

TermTable TermTable::enlarged() const {
  TermTable larger;
  larger.entries_ =
      std::vector<std::atomic<Entry>>(std::max(kSmallestCapacity, 2 * entries_.size()));
  larger.size_ = size_;
  larger.fill_from(entries_);
  return larger;
}

void TermTable::fill_from(const std::vector<std::atomic<Entry>>& entries) {
  shift_ = 32U - static_cast<unsigned>(std::countr_zero(entries_.size()));
  for (const std::atomic<Entry>& place : entries) {
    const Entry entry = place.load(std::memory_order_relaxed);
    if (entry.slot != kAbsent) {
      entries_[locate(entry.term)].store(entry, std::memory_order_relaxed);
    }
  }
}

void MutableTermTable::reserve() {
  if (tables_.empty() || !tables_.back()->has_room()) {
    tables_.push_back(std::make_unique<TermTable>(tables_.empty() ? TermTable().enlarged()
                                                                  : tables_.back()->enlarged()));
    latest_.store(tables_.back().get(), std::memory_order_release);
  }
}

std::size_t MutableTermTable::resident_bytes() const {
  std::size_t bytes = 0;
  for (const auto& table : tables_) {
    bytes += table->resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
