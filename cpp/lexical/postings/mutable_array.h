// A growing array that one thread appends to while others read it without locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace oneiros::lexical {

// A contiguous array of trivially copyable elements. When full, it doubles into new memory; the old
// memory is kept until the array is destroyed, because readers may still use it; with doubling, it
// adds less than the size of the memory in use.
//
// Thread safety: one writer, any number of concurrent readers. Size and address are published with
// release stores; a reader that loads the size first sees that many elements at whichever address
// it then loads. Elements are never modified after they are published, except through the mutable
// elements(), whose T must be atomic or otherwise safe.
template <typename T>
class MutableArray {
 public:
  MutableArray() = default;
  MutableArray(const MutableArray&) = delete;
  MutableArray& operator=(const MutableArray&) = delete;

  // Makes room for `size` elements in total. Strong exception guarantee.
  void reserve(std::size_t size) {
    if (size > capacity_) {
      move_to(size);
    }
  }
  // Like reserve(), but at least doubles the capacity, so that repeated calls cost amortised O(1).
  void reserve_ahead(std::size_t size) {
    if (size > capacity_) {
      move_to(std::max(size, 2 * capacity_));
    }
  }

  // REQUIRES: room for one more element.
  void push_back(const T& value) noexcept {
    const std::size_t size = size_.load(std::memory_order_relaxed);
    assert(size < capacity_);
    data_.load(std::memory_order_relaxed)[size] = value;
    size_.store(size + 1, std::memory_order_release);
  }

  // REQUIRES: room for all values.
  void append(std::span<const T> values) noexcept {
    const std::size_t size = size_.load(std::memory_order_relaxed);
    assert(size + values.size() <= capacity_);
    std::copy(values.begin(), values.end(), data_.load(std::memory_order_relaxed) + size);
    size_.store(size + values.size(), std::memory_order_release);
  }

  // Replaces the content of an empty array. Strong exception guarantee. REQUIRES: the array is
  // empty.
  void assign(std::span<const T> values) {
    assert(size() == 0);
    reserve(values.size());
    std::ranges::copy(values, data_.load(std::memory_order_relaxed));
    size_.store(values.size(), std::memory_order_release);
  }

  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  // The size is loaded before the address: any address then found holds that many elements.
  std::span<const T> elements() const {
    const std::size_t count = size();
    return {data_.load(std::memory_order_acquire), count};
  }
  std::span<T> elements() {
    const std::size_t count = size();
    return {data_.load(std::memory_order_acquire), count};
  }

  // Includes outgrown memory. Writer thread only.
  std::size_t resident_bytes() const { return allocated_ * sizeof(T); }

 private:
  // Copies the elements to new memory and publishes it.
  void move_to(std::size_t capacity) {
    memory_.reserve(memory_.size() + 1);
    auto fresh = std::make_unique_for_overwrite<T[]>(capacity);  // NOLINT(modernize-avoid-c-arrays)
    const std::span<const T> former = elements();
    std::copy(former.begin(), former.end(), fresh.get());
    memory_.push_back(std::move(fresh));
    data_.store(memory_.back().get(), std::memory_order_release);
    capacity_ = capacity;
    allocated_ += capacity;
  }

  std::atomic<T*> data_ = nullptr;
  std::atomic<std::size_t> size_ = 0;
  std::size_t capacity_ = 0;
  std::size_t allocated_ = 0;
  // The last block is in use; earlier ones are kept for readers.
  std::vector<std::unique_ptr<T[]>> memory_;  // NOLINT(modernize-avoid-c-arrays)
};

}  // namespace oneiros::lexical
