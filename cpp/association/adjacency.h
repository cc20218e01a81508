// Which links each row has.
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

// Where the link to `neighbour` stands, kNoPlace if there is none.
inline std::uint32_t place_of(std::span<const HalfLink> links, std::uint32_t neighbour) {
  const auto found = std::ranges::find_if(
      links, [neighbour](const HalfLink& link) { return link.neighbour() == neighbour; });
  return found == links.end() ? kNoPlace : static_cast<std::uint32_t>(found - links.begin());
}

// The links of every row, in the order of link_order.h. Of each link both halves are there.
class Adjacency {
 public:
  // REQUIRES: row < row_count().
  [[nodiscard]] std::span<const HalfLink> operator[](std::uint32_t row) const {
    return links_[row];
  }
  [[nodiscard]] std::size_t row_count() const noexcept { return links_.size(); }
  // Asks for what operator[] reads.
  void prefetch(std::uint32_t row) const { __builtin_prefetch(&links_[row]); }

  // The rest is for whoever owns the blocks.
  [[nodiscard]] std::span<HalfLink> block(std::uint32_t row) const { return links_[row]; }
  void set_block(std::uint32_t row, std::span<HalfLink> block) noexcept { links_[row] = block; }
  // Takes `room` for its own, in which as many rows more may stand. REQUIRES: room is not smaller.
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
