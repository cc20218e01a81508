// Where the living document of a row stands.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lexical/postings.h"

namespace oneiros::lexical {

struct Location {
  std::uint32_t segment = 0;  // its serial
  DocumentNumber document = 0;
};

// In pages, made when first used: a single row far out costs a page, not the way up to it.
// Readers may share it with a writer that calls set() and erase(); one that calls reserve() needs
// it alone.
class RowMap {
 public:
  std::optional<Location> find(std::uint32_t row) const {
    const Page* const page =
        row / kPageRows < pages_.size() ? pages_[row / kPageRows].get() : nullptr;
    if (page == nullptr) {
      return std::nullopt;
    }
    const Location found = (*page)[row % kPageRows].load(std::memory_order_relaxed);
    return found.segment == kNowhere ? std::nullopt : std::optional(found);
  }

  // Makes room for the row, so that set() cannot fail.
  void reserve(std::uint32_t row) {
    if (row / kPageRows >= pages_.size()) {
      pages_.resize(row / kPageRows + 1);
    }
    std::unique_ptr<Page>& page = pages_[row / kPageRows];
    if (!page) {
      page = std::make_unique<Page>();  // all zero: nowhere
      ++page_count_;
    }
  }

  // REQUIRES: reserve(row) was called.
  void set(std::uint32_t row, Location location) noexcept {
    (*pages_[row / kPageRows])[row % kPageRows].store(location, std::memory_order_relaxed);
  }
  void erase(std::uint32_t row) noexcept { set(row, {.segment = kNowhere, .document = 0}); }

  std::size_t resident_bytes() const {
    return pages_.capacity() * sizeof(pages_[0]) + page_count_ * sizeof(Page);
  }

 private:
  static constexpr std::size_t kPageRows = 1024;
  static constexpr std::uint32_t kNowhere = 0;  // no segment has the serial 0

  static_assert(std::atomic<Location>::is_always_lock_free);

  using Page = std::array<std::atomic<Location>, kPageRows>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t page_count_ = 0;
};

}  // namespace oneiros::lexical
