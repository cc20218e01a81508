// An array that one thread appends to while others read it.
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

// In one piece. It doubles into fresh memory when full; what it leaves stays until the array goes,
// for those who read it still. What stood there before the reader came is there, wherever it looks.
// One thread writes; any number may read meanwhile.
template <typename T>
class MutableArray {
 public:
  MutableArray() = default;
  MutableArray(const MutableArray&) = delete;
  MutableArray& operator=(const MutableArray&) = delete;

  // Makes room for `size` elements in all. If memory runs out, nothing has changed.
  void reserve(std::size_t size) {
    if (size > capacity_) {
      move_to(size);
    }
  }
  // The same for `size` and some more, so that a sequence of calls stays cheap.
  void reserve_ahead(std::size_t size) {
    if (size > capacity_) {
      move_to(std::max(size, 2 * capacity_));
    }
  }

  // REQUIRES: there is room.
  void push_back(const T& value) noexcept {
    const std::size_t size = size_.load(std::memory_order_relaxed);
    assert(size < capacity_);
    data_.load(std::memory_order_relaxed)[size] = value;
    size_.store(size + 1, std::memory_order_release);
  }

  // The same of many.
  void append(std::span<const T> values) noexcept {
    const std::size_t size = size_.load(std::memory_order_relaxed);
    assert(size + values.size() <= capacity_);
    std::copy(values.begin(), values.end(), data_.load(std::memory_order_relaxed) + size);
    size_.store(size + values.size(), std::memory_order_release);
  }

  // REQUIRES: it is empty. If memory runs out, nothing has changed.
  void assign(std::span<const T> values) {
    assert(size() == 0);
    reserve(values.size());
    std::ranges::copy(values, data_.load(std::memory_order_relaxed));
    size_.store(values.size(), std::memory_order_release);
  }

  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  // The size comes first: whatever memory is found then has that many.
  std::span<const T> elements() const {
    const std::size_t count = size();
    return {data_.load(std::memory_order_acquire), count};
  }
  std::span<T> elements() {
    const std::size_t count = size();
    return {data_.load(std::memory_order_acquire), count};
  }

  std::size_t resident_bytes() const { return allocated_ * sizeof(T); }  // for the writer

 private:
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
  // The last is in use.
  std::vector<std::unique_ptr<T[]>> memory_;  // NOLINT(modernize-avoid-c-arrays)
};

}  // namespace oneiros::lexical
