#include "columns/most_accessed.h"

#include <algorithm>
#include <utility>

namespace oneiros {

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
  std::vector<Held> best;   // a heap, the worst of them first
  std::uint32_t least = 0;  // a row comes in with more: of equals the first came first
  for (std::size_t row = 0; row < end && count > 0; ++row) {
    if (accesses[row] <= least) {
      continue;
    }
    if (allowed != nullptr && (((*allowed)[row / 8] >> (row % 8)) & 1U) == 0) {
      continue;
    }
    if (best.size() == count) {
      std::pop_heap(best.begin(), best.end(), is_better);
      best.pop_back();
    }
    best.emplace_back(accesses[row], static_cast<std::uint32_t>(row));
    std::push_heap(best.begin(), best.end(), is_better);
    least = best.size() == count ? best.front().first : 0;
  }
  std::sort(best.begin(), best.end(), is_better);
  std::vector<std::uint32_t> rows(best.size());
  std::transform(best.begin(), best.end(), rows.begin(),
                 [](const Held& held) { return held.second; });
  return rows;
}

}  // namespace oneiros
