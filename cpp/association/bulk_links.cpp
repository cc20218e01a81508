// Bulk loading by counting: degrees first, then one block per row, filled and sorted into link
// order. Duplicates are detected afterwards by marks per row. Linear, apart from the sort within a
// row.
#include "association/bulk_links.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "association/link_order.h"

namespace oneiros {

namespace {

// The number of links of each row.
std::vector<std::uint32_t> degrees_of(const PairColumns& pairs, std::size_t row_count) {
  std::vector<std::uint32_t> degrees(row_count);
  for (const std::uint32_t row : pairs.a) {
    ++degrees[row];
  }
  for (const std::uint32_t row : pairs.b) {
    ++degrees[row];
  }
  return degrees;
}

// Detects repeated pairs with one mark per row, set to the row whose block was scanned last.
bool is_any_twice(std::span<const FreshBlocks::Block> blocks, std::size_t row_count) {
  std::vector<std::uint32_t> seen_by(row_count, std::numeric_limits<std::uint32_t>::max());
  for (const FreshBlocks::Block& block : blocks) {
    for (const HalfLink& link : block.links) {
      if (seen_by[link.neighbour()] == block.row) {
        return true;
      }
      seen_by[link.neighbour()] = block.row;
    }
  }
  return false;
}

}  // namespace

bool write_all(const LinkColumns& links, std::size_t row_count, BlockPool& pool,
               FreshBlocks& fresh) {
  const std::vector<std::uint32_t> degrees = degrees_of(links.pairs, row_count);
  std::size_t room = 0;
  for (const std::uint32_t degree : degrees) {
    room += BlockPool::capacity_of(degree);
  }
  pool.reserve(room);
  std::vector<HalfLink*> next(row_count);
  for (std::uint32_t row = 0; row < row_count; ++row) {
    if (degrees[row] > 0) {
      next[row] = fresh.add(row, degrees[row]).data();
    }
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::uint32_t a = links.pairs.a[i];
    const std::uint32_t b = links.pairs.b[i];
    HalfLink half = links.half(i, b);
    *next[a]++ = half;
    half.end = HalfLink::end_of(a, half.kind());
    *next[b]++ = half;
  }
  if (is_any_twice(fresh.blocks(), row_count)) {
    return false;
  }
  for (const FreshBlocks::Block& block : fresh.blocks()) {
    std::ranges::sort(block.links, stands_before);
  }
  return true;
}

}  // namespace oneiros
