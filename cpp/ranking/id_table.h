// Numbers for ids in order of first appearance: what a union of ranked lists is built with.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace oneiros {

// Open addressing, at most half full. What former uses left in a slot is told by its number being
// below `base_`, so that a use begins without clearing anything.
// Not thread-safe: one object a thread.
template <std::integral Id>
class IdTable {
 public:
  // Makes ready for up to `most` different ids, numbered from 0.
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

  // The id's number n, the next free one if it is new; writes the id to ids[n].
  // REQUIRES: begin() made room for it; `ids` is the same throughout a use.
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

  // The id's number, size() if it has none. REQUIRES: as number_of().
  [[nodiscard]] std::uint32_t find(Id id, const Id* ids) const {
    for (std::size_t at = first_slot(id); slots_[at].number >= base_; at = (at + 1) & mask_) {
      const std::uint32_t number = slots_[at].number - base_;
      if (slots_[at].low == static_cast<std::uint32_t>(id) && ids[number] == id) {
        return number;
      }
    }
    return count_;
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return slots_.size(); }

 private:
  // Small, so that the table of a thousand ids stays in the first cache.
  struct Slot {
    std::uint32_t low = 0;     // bits of the id: mostly enough to tell it from others
    std::uint32_t number = 0;  // base_ + its number, or what an earlier use left
  };
  static constexpr std::size_t kFewestSlots = 16;

  // Fibonacci hashing: neighbouring ids spread over the table.
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
