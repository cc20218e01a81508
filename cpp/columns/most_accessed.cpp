// A bounded heap over one pass: blocks without a value above the heap's minimum are skipped by a
// vectorised test.
#include "columns/most_accessed.h"

#include <algorithm>
#include <utility>

namespace oneiros {

namespace {

constexpr std::size_t kBlock = 256;  // rows; what compilers make of any_above() are vectors

bool any_above(std::span<const std::uint32_t> accesses, std::uint32_t least) {
  std::uint32_t any = 0;
  for (const std::uint32_t count : accesses) {
    any |= count > least ? 1U : 0U;
  }
  return any != 0;
}

}  // namespace

std::vector<std::uint32_t> most_accessed(const Columns& columns, std::size_t count,
                                         const std::span<const std::uint8_t>* allowed) {
  using Held = std::pair<std::uint32_t, std::uint32_t>;  // accesses, row
  const auto is_better = [](const Held& one, const Held& other) {
    return one.first != other.first ? one.first > other.first : one.second < other.second;
  };
  const Columns::Reader reader(columns);
  const std::span<const std::uint32_t> accesses = reader.values<Column::access_count>();
  const std::size_t end =
      allowed == nullptr ? accesses.size() : std::min(accesses.size(), allowed->size() * 8);
  std::vector<Held> best;   // a heap, the worst at the front
  std::uint32_t least = 0;  // needed to enter; of equal rows the first one stays
  const auto consider = [&](std::size_t row) {
    if (accesses[row] <= least ||
        (allowed != nullptr && (((*allowed)[row / 8] >> (row % 8)) & 1U) == 0)) {
      return;
    }
    if (best.size() == count) {
      std::pop_heap(best.begin(), best.end(), is_better);
      best.pop_back();
    }
    best.emplace_back(accesses[row], static_cast<std::uint32_t>(row));
    std::push_heap(best.begin(), best.end(), is_better);
    least = best.size() == count ? best.front().first : 0;
  };
  for (std::size_t begin = 0; begin < end && count > 0; begin += kBlock) {
    const std::size_t size = std::min(kBlock, end - begin);
    if (any_above(accesses.subspan(begin, size), least)) {  // rarely true once the heap is full
      for (std::size_t row = begin; row < begin + size; ++row) {
        consider(row);
      }
    }
  }
  std::sort(best.begin(), best.end(), is_better);
  std::vector<std::uint32_t> rows(best.size());
  std::transform(best.begin(), best.end(), rows.begin(),
                 [](const Held& held) { return held.second; });
  return rows;
}

}  // namespace oneiros
