// A hash table that numbers ids in order of first appearance, for unions of ranked lists.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace oneiros {

// Open addressing, at most half full. A table is reused without clearing: entries of earlier uses
// have a number below `base_` and count as free. Not thread-safe: one object per thread.
template <std::integral Id>
class IdTable {
 public:
  // Starts a use with up to `most` distinct ids, numbered from 0. Allocates only if the table
  // grows.
  void begin(std::size_t most) {
    const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * most, kFewestSlots));
    base_ += count_;
    count_ = 0;
    if (slots > slots_.size() || base_ > std::numeric_limits<std::uint32_t>::max() - most) {
      slots_.assign(std::max(slots, slots_.size()), Slot{});
      base_ = 1;
    }
    mask_ = slots - 1;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  }

  // The number of the id, the next free one if it is new; writes the id to ids[n]. REQUIRES:
  // begin() allowed for it; `ids` is the same array throughout a use.
  std::uint32_t number_of(Id id, Id* ids) {
    const auto low = static_cast<std::uint32_t>(id);
    std::size_t at = first_slot(id);
    while (slots_[at].number >= base_ &&
           (slots_[at].low != low || ids[slots_[at].number - base_] != id)) {
      at = (at + 1) & mask_;
    }
    const bool is_new = slots_[at].number < base_;
    const std::uint32_t number = is_new ? count_ : slots_[at].number - base_;
    slots_[at] = {low, base_ + number};
    ids[number] = id;
    count_ += is_new ? 1 : 0;
    return number;
  }

  // The number of the id, or size(). REQUIRES: as number_of().
  [[nodiscard]] std::uint32_t find(Id id, const Id* ids) const {
    for (std::size_t at = first_slot(id); slots_[at].number >= base_; at = (at + 1) & mask_) {
      const std::uint32_t number = slots_[at].number - base_;
      if (slots_[at].low == static_cast<std::uint32_t>(id) && ids[number] == id) {
        return number;
      }
    }
    return count_;
  }

  // The number of distinct ids of this use.
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return slots_.size(); }

 private:
  // Eight bytes, so that the table of a thousand ids fits the first-level cache.
  struct Slot {
    std::uint32_t low = 0;     // the low bits of the id, which mostly suffice to distinguish ids
    std::uint32_t number = 0;  // base_ + number, or left over from an earlier use
  };
  static constexpr std::size_t kFewestSlots = 16;

  // Fibonacci hashing spreads neighbouring ids over the table.
  [[nodiscard]] std::size_t first_slot(Id id) const {
    return (static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15ULL) >> shift_;
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::uint32_t base_ = 1;
  std::uint32_t count_ = 0;
};

}  // namespace oneiros
