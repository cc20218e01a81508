// Ids concatenated by row, with offsets and a permutation ordered by id for look-ups by binary
// search.
#include "columns/stored_ids.h"

#include <algorithm>

namespace oneiros {

StoredIds::Image::Image(std::span<const std::string_view> ids) {
  starts_.reserve(ids.size() + 1);
  starts_.push_back(0);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    bytes_.insert(bytes_.end(), ids[row].begin(), ids[row].end());
    starts_.push_back(bytes_.size());
    if (!ids[row].empty()) {
      order_.push_back(static_cast<std::uint32_t>(row));
    }
  }
  std::ranges::sort(order_, {}, [&](std::uint32_t row) { return ids[row]; });
}

std::vector<SnapshotSection> StoredIds::Image::sections() const {
  return {{.kind = SectionKind::kIdBytes, .bytes = std::as_bytes(std::span(bytes_))},
          {.kind = SectionKind::kIdStarts, .bytes = std::as_bytes(std::span(starts_))},
          {.kind = SectionKind::kIdOrder, .bytes = std::as_bytes(std::span(order_))}};
}

StoredIds::StoredIds(const SnapshotReader& snapshot)
    : bytes_(snapshot.take<char>(SectionKind::kIdBytes, 0)),
      starts_(snapshot.take<std::uint64_t>(SectionKind::kIdStarts, 0)),
      order_(snapshot.take<std::uint32_t>(SectionKind::kIdOrder, 0)) {
  require_sense(starts_.size() != 0 && starts_[0] == 0 &&
                    starts_[starts_.size() - 1] == bytes_.size() && order_.size() <= size(),
                "ids do not fill their bytes");
  if (!snapshot.is_own()) {
    check();
  }
}

void StoredIds::check() const {
  std::size_t known = 0;
  for (std::size_t row = 0; row < size(); ++row) {
    require_sense(starts_[row] <= starts_[row + 1], "ids are not in order");
    known += starts_[row] != starts_[row + 1] ? 1 : 0;
  }
  require_sense(known == order_.size(), "not as many ids by name as by row");
  for (std::size_t i = 0; i < order_.size(); ++i) {
    require_sense(order_[i] < size() && !at(order_[i]).empty() &&
                      (i == 0 || at(order_[i - 1]) < at(order_[i])),
                  "ids by name are not in order");
  }
}

std::optional<std::uint32_t> StoredIds::find(std::string_view id) const {
  const std::span<const std::uint32_t> order = order_.elements();
  const auto found =
      std::ranges::lower_bound(order, id, {}, [&](std::uint32_t row) { return at(row); });
  return found == order.end() || at(*found) != id ? std::nullopt : std::optional(*found);
}

}  // namespace oneiros
