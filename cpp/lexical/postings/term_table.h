// Hash tables from terms (or rows) to slots, with one cache line per look-up in most cases.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// Assigns slots 0, 1, 2 ... in order of insertion. Open addressing with linear probing, at most
// half full; entries are eight bytes and atomic.
//
// Thread safety: readers may run concurrently with a writer as long as has_room(); enlarging needs
// exclusive access, or enlarged() and an atomic switch (MutableTermTable).
class TermTable {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  // The slot of the term, or kAbsent.
  std::uint32_t find(TermId term) const;

  // The slot of the term, a new one if it has none. Strong exception guarantee.
  std::uint32_t find_or_insert(TermId term);

  // Room for `term_count` terms in total. Needs exclusive access.
  void reserve(std::size_t term_count);
  // True if one more term can be inserted without enlarging.
  bool has_room() const { return 2 * (size_ + 1) <= entries_.size(); }
  // A larger copy with the same slots. REQUIRES: no concurrent writer; readers are allowed.
  TermTable enlarged() const;
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  // A slot of the hash table; loaded and stored as one atomic word.
  struct alignas(8) Entry {
    TermId term = 0;
    std::uint32_t slot = kAbsent;  // kAbsent marks a free entry
  };

  // The entry of the term, or the free one it would take. REQUIRES: at least one free entry.
  std::size_t locate(TermId term) const;
  // Inserts the entries of another table. REQUIRES: room for them.
  void fill_from(const std::vector<std::atomic<Entry>>& entries);

  static_assert(std::atomic<Entry>::is_always_lock_free);

  // Empty, or a power of two of entries.
  std::vector<std::atomic<Entry>> entries_;
  std::size_t size_ = 0;
  unsigned shift_ = 0;  // 32 - log2(capacity)
};

// A TermTable that grows while others read it. One thread writes. Outgrown tables are kept until
// destruction for readers; together they are smaller than the table in use.
class MutableTermTable {
 public:
  std::uint32_t find(TermId term) const {
    const TermTable* const table = latest_.load(std::memory_order_acquire);
    return table == nullptr ? TermTable::kAbsent : table->find(term);
  }
  // Makes room for one more term. Strong exception guarantee.
  void reserve();
  // REQUIRES: reserve() was called since the last insertion.
  std::uint32_t find_or_insert(TermId term) noexcept {
    return tables_.back()->find_or_insert(term);
  }
  std::size_t resident_bytes() const;

 private:
  std::atomic<const TermTable*> latest_ = nullptr;
  std::vector<std::unique_ptr<TermTable>> tables_;  // the last is in use
};

}  // namespace oneiros::lexical
