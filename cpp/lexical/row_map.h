// Where the living document of a row stands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lexical/postings.h"

namespace oneiros::lexical {

struct Location {
  std::uint32_t segment;  // its serial
  DocumentNumber document;
};

// In pages, made when first used: a single row far out costs a page, not the way up to it.
class RowMap {
 public:
  std::optional<Location> find(std::uint32_t row) const {
    const Page* const page =
        row / kPageRows < pages_.size() ? pages_[row / kPageRows].get() : nullptr;
    if (page == nullptr || (*page)[row % kPageRows].segment == kNowhere) {
      return std::nullopt;
    }
    return (*page)[row % kPageRows];
  }

  // Makes room for the row, so that set() cannot fail.
  void reserve(std::uint32_t row) {
    if (row / kPageRows >= pages_.size()) {
      pages_.resize(row / kPageRows + 1);
    }
    std::unique_ptr<Page>& page = pages_[row / kPageRows];
    if (!page) {
      page = std::make_unique<Page>();
      page->fill({.segment = kNowhere, .document = 0});
      ++page_count_;
    }
  }

  // REQUIRES: reserve(row) was called.
  void set(std::uint32_t row, Location location) noexcept {
    (*pages_[row / kPageRows])[row % kPageRows] = location;
  }
  void erase(std::uint32_t row) noexcept { set(row, {.segment = kNowhere, .document = 0}); }

  std::size_t resident_bytes() const {
    return pages_.capacity() * sizeof(pages_[0]) + page_count_ * sizeof(Page);
  }

 private:
  static constexpr std::size_t kPageRows = 1024;
  static constexpr std::uint32_t kNowhere = 0;  // no segment has the serial 0

  using Page = std::array<Location, kPageRows>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t page_count_ = 0;
};

}  // namespace oneiros::lexical
