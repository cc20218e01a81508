// A segregated free-list allocator: sizes are rounded up to four classes per doubling, so at most a
// quarter is wasted; freed blocks form a list per class. Large pieces are aligned for huge pages,
// small pools start with small pieces.
#include "association/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

namespace oneiros {

namespace {

// Walks access links all over memory: with 4 KiB pages they would also wait for address
// translation.
constexpr std::size_t kPageBytes = std::size_t{1} << 21;
constexpr std::align_val_t kLine{64};  // no link crosses a cache line

// Four size classes per doubling: 1, 2, .. 8, 10, 12, 14, 16, 20, 24, ..
struct BlockClass {
  std::size_t number;
  std::size_t capacity;
};

BlockClass class_of(std::size_t count) {
  const std::size_t last = count - 1;
  const auto width = static_cast<std::size_t>(std::bit_width(last));
  const std::size_t shift = width > 3 ? width - 3 : 0;
  const std::size_t steps = last >> shift;
  return {4 * shift + steps, (steps + 1) << shift};
}

}  // namespace

std::size_t BlockPool::capacity_of(std::size_t count) noexcept {
  return count == 0 ? 0 : class_of(count).capacity;
}

std::span<HalfLink> BlockPool::take(std::size_t count) {
  assert(count > 0);
  const BlockClass wanted = class_of(count);
  HalfLink*& first_free = free_[wanted.number];
  if (first_free != nullptr) {
    HalfLink* const block = first_free;
    std::memcpy(&first_free, block, sizeof(void*));
    return {block, count};
  }
  if (rest_.size() < wanted.capacity) {
    reserve(std::max(wanted.capacity, std::clamp(allocated_, kFirstPiece, kLargestPiece)));
  }
  HalfLink* const block = rest_.data();
  rest_ = rest_.subspan(wanted.capacity);
  return {block, count};
}

void BlockPool::give_back(std::span<HalfLink> block) noexcept {
  if (block.empty()) {
    return;
  }
  HalfLink*& first_free = free_[class_of(block.size()).number];
  std::memcpy(static_cast<void*>(block.data()), &first_free, sizeof(void*));
  first_free = block.data();
}

void BlockPool::reserve(std::size_t links) {
  if (links <= rest_.size()) {
    return;
  }
  pieces_.reserve(pieces_.size() + 1);
  const std::size_t bytes = links * sizeof(HalfLink);
  const std::align_val_t alignment = bytes < kPageBytes ? kLine : std::align_val_t{kPageBytes};
  pieces_.emplace_back(static_cast<HalfLink*>(::operator new(bytes, alignment)), Free{alignment});
#if defined(MADV_HUGEPAGE)
  if (bytes >= kPageBytes) {
    ::madvise(pieces_.back().get(), bytes / kPageBytes * kPageBytes, MADV_HUGEPAGE);
  }
#endif
  rest_ = {pieces_.back().get(), links};
  allocated_ += links;
}

}  // namespace oneiros
