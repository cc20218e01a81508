// Unused bytes in pages of a file of SQLite.
//
// When SQLite moves rows between pages, copies of them stay in the gap between a page's cell
// pointers and its cells, which SQLite never reads.
//
// Source: SQLite database file format, section 1.6, "B-tree pages".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oneiros {

// A range of bytes, as offsets into the pages that were searched.
struct UnusedBytes {
  std::size_t begin;
  std::size_t end;

  bool operator==(const UnusedBytes&) const = default;
};

// Returns whether SQLite has pages of this size: a power of two from 512 to 65536.
[[nodiscard]] bool is_page_size(std::size_t size);

// Returns the gap of each page of a b-tree whose gap holds a byte other than zero, in order.
//
// A page whose header contradicts its cell pointers is damaged and has no gap. Other pages begin
// with a page number, whose first byte is no type of a page in files of fewer than 2^25 pages
// without automatic vacuum. Bytes behind the last whole page are ignored.
//
// pages: whole pages that follow each other in the file.
// begins_file: the first of them is the file's first page, which begins with the file's header.
// REQUIRES: is_page_size(page_size).
[[nodiscard]] std::vector<UnusedBytes> unused_bytes(std::span<const std::byte> pages,
                                                    std::size_t page_size, bool begins_file);

}  // namespace oneiros
