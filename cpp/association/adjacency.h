// The adjacency lists of the association graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "association/link.h"

namespace oneiros {

inline constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

// The index of the link to `neighbour`, or kNoPlace. Linear.
inline std::uint32_t place_of(std::span<const HalfLink> links, std::uint32_t neighbour) {
  const auto found = std::ranges::find_if(
      links, [neighbour](const HalfLink& link) { return link.neighbour() == neighbour; });
  return found == links.end() ? kNoPlace : static_cast<std::uint32_t>(found - links.begin());
}

// The links of every row, ordered as in link_order.h. Each link is stored at both of its ends. Does
// not own the blocks. One of the two copies of AssociationGraph's LeftRight.
class Adjacency {
 public:
  // REQUIRES: row < row_count().
  [[nodiscard]] std::span<const HalfLink> operator[](std::uint32_t row) const {
    return links_[row];
  }
  [[nodiscard]] std::size_t row_count() const noexcept { return links_.size(); }
  // Prefetches what operator[] reads.
  void prefetch(std::uint32_t row) const { __builtin_prefetch(&links_[row]); }

  // The methods below are for the owner of the blocks.
  [[nodiscard]] std::span<HalfLink> block(std::uint32_t row) const { return links_[row]; }
  void set_block(std::uint32_t row, std::span<HalfLink> block) noexcept { links_[row] = block; }
  // Replaces the table by `room`, which may have more rows. REQUIRES: room is not smaller.
  void move_to(std::vector<std::span<HalfLink>>& room) noexcept {
    for (std::size_t row = 0; row < links_.size(); ++row) {
      room[row] = links_[row];
    }
    links_.swap(room);
  }
  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return links_.capacity() * sizeof(links_.front());
  }

 private:
  std::vector<std::span<HalfLink>> links_;
};

}  // namespace oneiros
