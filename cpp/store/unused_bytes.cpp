// Search for unused bytes in pages.
//
// Every offset is compared with the page's end before it is used, so that a damaged page leads
// neither to a read nor to a gap outside of it.
#include "store/unused_bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace oneiros {

namespace {

constexpr std::size_t kSmallestPage = 512;
constexpr std::size_t kLargestPage = 65536;
constexpr std::size_t kFileHeader = 100;  // before the first page's header
// Within a page's header.
constexpr std::size_t kFirstFreeBlock = 1;
constexpr std::size_t kCellCount = 3;
constexpr std::size_t kCellContent = 5;
constexpr std::size_t kFragmentBytes = 7;

std::size_t number_at(std::span<const std::byte> page, std::size_t place) {
  return std::to_integer<std::size_t>(page[place]) << 8U |
         std::to_integer<std::size_t>(page[place + 1]);
}

// The length of a header by the type of its page; 0 for pages of no b-tree.
std::size_t header_size(std::byte type) {
  switch (std::to_integer<unsigned>(type)) {
    case 2:  // interior page of an index
    case 5:  // interior page of a table
      return 12;
    case 10:  // leaf of an index
    case 13:  // leaf of a table
      return 8;
    default:
      return 0;
  }
}

bool is_zero(std::span<const std::byte> bytes) {
  // All bytes equal the one before them, and the first is zero.
  return bytes.empty() || (bytes.front() == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// The gap of a page, or none if it is of no b-tree or damaged. The page's own header begins at
// `place`.
std::optional<UnusedBytes> gap_of(std::span<const std::byte> page, std::size_t place) {
  const std::size_t header = header_size(page[place]);
  if (header == 0) {
    return std::nullopt;
  }
  const std::size_t count = number_at(page, place + kCellCount);
  std::size_t content = number_at(page, place + kCellContent);
  if (content == 0) {
    content = kLargestPage;  // which needs a bit more than there are
  }
  const std::size_t pointers = place + header;
  const std::size_t begin = pointers + 2 * count;
  if (begin > content || content > page.size()) {
    return std::nullopt;
  }
  // Cells and free blocks lie in the content, and before the first of them are only fragments.
  const std::size_t free_block = number_at(page, place + kFirstFreeBlock);
  std::size_t first = free_block == 0 ? page.size() : free_block;
  std::size_t last = free_block;
  for (std::size_t pointer = pointers; pointer < begin; pointer += 2) {
    const std::size_t cell = number_at(page, pointer);
    first = std::min(first, cell);
    last = std::max(last, cell);
  }
  const auto fragments = std::to_integer<std::size_t>(page[place + kFragmentBytes]);
  const bool is_empty = count == 0 && free_block == 0;
  if (first < content || last >= page.size() || (!is_empty && first - content > fragments)) {
    return std::nullopt;
  }
  return UnusedBytes{.begin = begin, .end = content};
}

}  // namespace

bool is_page_size(std::size_t size) {
  return std::has_single_bit(size) && size >= kSmallestPage && size <= kLargestPage;
}

std::vector<UnusedBytes> unused_bytes(std::span<const std::byte> pages, std::size_t page_size,
                                      bool begins_file) {
  std::vector<UnusedBytes> found;
  for (std::size_t start = 0; pages.size() - start >= page_size; start += page_size) {
    const std::span<const std::byte> page = pages.subspan(start, page_size);
    const auto gap = gap_of(page, begins_file && start == 0 ? kFileHeader : 0);
    if (gap && !is_zero(page.subspan(gap->begin, gap->end - gap->begin))) {
      found.push_back({.begin = start + gap->begin, .end = start + gap->end});
    }
  }
  return found;
}

}  // namespace oneiros
