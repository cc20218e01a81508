// A sparse array with atomic elements, in pages allocated on first use.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <vector>

#include "lexical/postings/mutable_array.h"

namespace oneiros::lexical {

// Every element is T() until it is set. A single far element costs one page and a pointer per page
// before it, not the elements before it. T must be lock-free as std::atomic.
//
// Thread safety: one writer, any number of readers. set() releases and get() acquires: a reader
// that sees a value sees everything the writer did before.
template <typename T>
class SparseArray {
 public:
  // T() for elements never set, including those beyond all pages.
  T get(std::size_t index) const {
    const std::span<const PageAddress> pages = pages_.elements();
    const std::size_t number = index / kPageSize;
    const Page* const page = number < pages.size() ? pages[number].get() : nullptr;
    return page == nullptr ? T() : (*page)[index % kPageSize].load(std::memory_order_acquire);
  }

  // Allocates the page of the element, so that set() cannot fail. Strong exception guarantee.
  void reserve(std::size_t index) {
    const std::size_t number = index / kPageSize;
    pages_.reserve_ahead(number + 1);
    while (pages_.size() <= number) {
      pages_.push_back({});
    }
    PageAddress& address = pages_.elements()[number];
    if (address.get() == nullptr) {
      memory_.push_back(std::make_unique<Page>());
      address.set(memory_.back().get());
    }
  }

  // REQUIRES: reserve(index) was called.
  void set(std::size_t index, T value) noexcept {
    Page* const page = pages_.elements()[index / kPageSize].get();
    assert(page != nullptr);
    (*page)[index % kPageSize].store(value, std::memory_order_release);
  }

  std::size_t resident_bytes() const {
    return pages_.resident_bytes() + memory_.size() * sizeof(Page);
  }

 private:
  static constexpr std::size_t kPageSize = 1024;

  static_assert(std::atomic<T>::is_always_lock_free);

  using Page = std::array<std::atomic<T>, kPageSize>;

  // A copyable atomic pointer, as MutableArray copies its elements when it grows.
  class PageAddress {
   public:
    PageAddress() = default;
    PageAddress(const PageAddress& other) : page_(other.get()) {}
    PageAddress& operator=(const PageAddress& other) {
      set(other.get());
      return *this;
    }
    ~PageAddress() = default;
    Page* get() const { return page_.load(std::memory_order_acquire); }
    void set(Page* page) { page_.store(page, std::memory_order_release); }

   private:
    std::atomic<Page*> page_ = nullptr;
  };

  MutableArray<PageAddress> pages_;
  std::vector<std::unique_ptr<Page>> memory_;
};

}  // namespace oneiros::lexical
