#include "store/unused_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using oneiros::is_page_size;
using oneiros::unused_bytes;
using oneiros::UnusedBytes;

namespace {

constexpr std::size_t kPage = 512;
constexpr std::array<std::size_t, 4> kTypes{2, 5, 10, 13};

using Bytes = std::vector<std::byte>;

std::size_t header_of(std::size_t type) { return type < 10 ? 12 : 8; }

void put(Bytes& page, std::size_t place, std::size_t number) {
  page[place] = static_cast<std::byte>(number >> 8U);
  page[place + 1] = static_cast<std::byte>(number & 255U);
}

// A page of a b-tree with cells of ten bytes at its end and no other byte set.
Bytes page_of(std::size_t type, std::size_t cells, std::size_t size = kPage,
              std::size_t place = 0) {
  Bytes page(size);
  page[place] = static_cast<std::byte>(type);
  put(page, place + 3, cells);
  put(page, place + 5, size - 10 * cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t offset = size - 10 * (cell + 1);
    put(page, place + header_of(type) + 2 * cell, offset);
    std::fill_n(page.begin() + static_cast<std::ptrdiff_t>(offset), 10, std::byte{7});
  }
  return page;
}

std::vector<UnusedBytes> found_in(const Bytes& page) { return unused_bytes(page, kPage, false); }

}  // namespace

TEST_CASE("unused_bytes: sizes of pages are powers of two within bounds") {
  for (const std::size_t size : {512U, 1024U, 4096U, 65536U}) {
    CHECK(is_page_size(size));
  }
  for (const std::size_t size : {0U, 1U, 256U, 513U, 4095U, 131072U}) {
    CHECK_FALSE(is_page_size(size));
  }
}

TEST_CASE("unused_bytes: any byte of the gap counts, and none around it") {
  for (const std::size_t type : kTypes) {
    for (const std::size_t cells : {0U, 1U, 5U}) {
      const std::size_t begin = header_of(type) + 2 * cells;
      const std::size_t end = kPage - 10 * cells;
      Bytes page = page_of(type, cells);
      CHECK(found_in(page).empty());
      for (std::size_t place = begin; place < end; ++place) {
        page[place] = std::byte{1};
        CHECK(found_in(page) == std::vector<UnusedBytes>{{begin, end}});
        page[place] = std::byte{0};
      }
    }
  }
}

TEST_CASE("unused_bytes: pages of no b-tree have no gap") {
  for (std::size_t type = 0; type < 256; ++type) {
    if (std::ranges::find(kTypes, type) != kTypes.end()) {
      continue;
    }
    Bytes page = page_of(13, 2);
    page[0] = static_cast<std::byte>(type);
    page[100] = std::byte{1};
    CHECK(found_in(page).empty());
  }
}

TEST_CASE("unused_bytes: gaps of many pages are offsets into all of them") {
  Bytes pages;
  for (const std::size_t type : kTypes) {
    Bytes page = page_of(type, 1);
    page[200] = std::byte{type != 5};
    pages.insert(pages.end(), page.begin(), page.end());
  }
  CHECK(found_in(pages) == std::vector<UnusedBytes>{{14, 502}, {1034, 1526}, {1546, 2038}});
  pages.pop_back();  // the last page is no longer whole
  CHECK(found_in(pages) == std::vector<UnusedBytes>{{14, 502}, {1034, 1526}});
  CHECK(found_in({}).empty());
}

TEST_CASE("unused_bytes: the file's header stands before the first page's") {
  Bytes page = page_of(13, 3, kPage, 100);
  std::fill_n(page.begin(), 16, std::byte{'S'});
  page[200] = std::byte{1};
  CHECK(unused_bytes(page, kPage, true) == std::vector<UnusedBytes>{{114, 482}});
  CHECK(unused_bytes(page, kPage, false).empty());
}

TEST_CASE("unused_bytes: the largest page ends where its offsets of two bytes overflow") {
  constexpr std::size_t kLargest = 65536;
  Bytes page = page_of(13, 0, kLargest);
  page[kLargest - 1] = std::byte{1};
  CHECK(unused_bytes(page, kLargest, false) == std::vector<UnusedBytes>{{8, kLargest}});
}

TEST_CASE("unused_bytes: free blocks and fragments begin the content as cells do") {
  Bytes page = page_of(13, 2);  // its cells begin at 492
  page[100] = std::byte{1};
  put(page, 5, 480);
  CHECK(found_in(page).empty());  // twelve bytes of nothing
  put(page, 1, 480);
  CHECK(found_in(page) == std::vector<UnusedBytes>{{12, 480}});
  put(page, 1, 482);
  CHECK(found_in(page).empty());
  page[7] = std::byte{2};
  CHECK(found_in(page) == std::vector<UnusedBytes>{{12, 480}});
}

TEST_CASE("unused_bytes: a page whose header contradicts its cells is left alone") {
  const Bytes sound = [] {
    Bytes page = page_of(13, 4);
    page[100] = std::byte{1};
    return page;
  }();
  REQUIRE(found_in(sound) == std::vector<UnusedBytes>{{16, 472}});
  const auto with = [&](std::size_t place, std::size_t number) {
    Bytes page = sound;
    put(page, place, number);
    return found_in(page);
  };
  CHECK(with(3, 5).empty());      // a pointer that is no pointer
  CHECK(with(3, 3).empty());      // the lowest cell has no pointer
  CHECK(with(3, 250).empty());    // pointers reach into the cells
  CHECK(with(3, 65535).empty());  // and past the page
  CHECK(with(5, 473).empty());    // the lowest cell lies in the gap
  CHECK(with(5, 8).empty());      // the cells begin before the pointers end
  CHECK(with(5, 513).empty());
  CHECK(with(5, 0).empty());
  CHECK(with(8, 512).empty());  // a cell past the page
  CHECK(with(8, 20).empty());   // a cell in the gap
  CHECK(with(1, 20).empty());   // a free block in the gap
  CHECK(with(1, 512).empty());
}

TEST_CASE("unused_bytes: no content leads out of its page, or to pointers and cells") {
  std::mt19937 random(11);
  std::uniform_int_distribution<std::size_t> any_place(0, kPage - 1);
  std::uniform_int_distribution<unsigned> any_byte(0, 255);
  std::size_t gaps = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t type = kTypes[random() % kTypes.size()];
    Bytes page = page_of(type, random() % 20);
    for (unsigned flips = random() % 4; flips > 0; --flips) {
      // Half of them in the header.
      const std::size_t place = flips % 2 == 0 ? any_place(random) : any_place(random) % 16;
      page[place] = static_cast<std::byte>(any_byte(random));
    }
    const std::span<const std::byte> view(page);
    for (const auto& [begin, end] : unused_bytes(view, kPage, false)) {
      ++gaps;
      const std::size_t header = header_of(std::to_integer<std::size_t>(page[0]));
      CHECK(header <= begin);
      CHECK(begin < end);
      CHECK(end <= kPage);
      for (std::size_t pointer = header; pointer < begin; pointer += 2) {
        const std::size_t cell = std::to_integer<std::size_t>(page[pointer]) * 256 +
                                 std::to_integer<std::size_t>(page[pointer + 1]);
        CHECK(cell >= end);
        CHECK(cell < kPage);
      }
    }
  }
  CHECK(gaps > 1'000);
  for (int round = 0; round < 2'000; ++round) {  // noise
    Bytes pages(3 * kPage);
    std::ranges::generate(pages, [&] { return static_cast<std::byte>(any_byte(random)); });
    for (const auto& [begin, end] : unused_bytes(pages, kPage, round % 2 == 0)) {
      CHECK(begin / kPage == (end - 1) / kPage);
      CHECK(end <= pages.size());
    }
  }
}
