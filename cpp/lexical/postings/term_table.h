// Numbers of terms or rows to slots: one cache line a look-up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "analysis/analyzer.h"

namespace oneiros::lexical {

// Slots count up from 0 in order of insertion. Open addressing, linear probing, at most half full.
// Readers may share it with a writer for whose terms there is room; one that enlarges the table
// needs it alone.
class TermTable {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  // The term's slot; kAbsent if it has none.
  std::uint32_t find(TermId term) const;

  // The term's slot, a new one if it had none. If memory runs out, nothing has changed.
  std::uint32_t find_or_insert(TermId term);

  void reserve(std::size_t term_count);
  // Whether one more term has room.
  bool has_room() const { return 2 * (size_ + 1) <= entries_.size(); }
  // A table with the same slots and more room. REQUIRES: one that shares this one does not write.
  TermTable enlarged() const;
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  struct alignas(8) Entry {
    TermId term = 0;
    std::uint32_t slot = kAbsent;  // kAbsent: the entry is free
  };

  // The entry that holds the term, or the free one where it belongs. REQUIRES: a free entry.
  std::size_t locate(TermId term) const;
  void fill_from(const std::vector<std::atomic<Entry>>& entries);

  static_assert(std::atomic<Entry>::is_always_lock_free);

  std::vector<std::atomic<Entry>> entries_;  // a power of two of them, or none
  std::size_t size_ = 0;
  unsigned shift_ = 0;  // 32 - log2(capacity)
};

// One that grows while others read it. One thread writes.
class MutableTermTable {
 public:
  std::uint32_t find(TermId term) const {
    const TermTable* const table = latest_.load(std::memory_order_acquire);
    return table == nullptr ? TermTable::kAbsent : table->find(term);
  }
  // Makes room for one more term. If memory runs out, nothing has changed.
  void reserve();
  // REQUIRES: reserve() came right before.
  std::uint32_t find_or_insert(TermId term) noexcept {
    return tables_.back()->find_or_insert(term);
  }
  std::size_t resident_bytes() const;

 private:
  std::atomic<const TermTable*> latest_ = nullptr;
  std::vector<std::unique_ptr<TermTable>> tables_;  // the last is in use
};

}  // namespace oneiros::lexical
