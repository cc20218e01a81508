// What a row must fulfil before anything of it is handed out: its checksum, and ranges of its
// numbers. Both ask for a cell by its place in the row, and so take rows of any form.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/cell.h"

namespace oneiros {

// Which places of a row are covered by a checksum, and where in the row that stands.
class RowChecksum {
 public:
  // Throws std::invalid_argument unless there are as many places as columns.
  RowChecksum(std::span<const std::string> columns, std::vector<std::size_t> places,
              std::size_t checksum_place);

  // Of each place that is covered, what tells its column's cells from those of others.
  [[nodiscard]] std::span<const std::uint64_t> salts() const noexcept { return salts_; }

  // `cell_at(place)` gives a Cell.
  template <typename CellAt>
  [[nodiscard]] std::uint64_t of(const CellAt& cell_at) const {
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      checksum ^= cell_checksum(salts_[i], cell_at(places_[i]));
    }
    return checksum;
  }

  // Whether the row holds the checksum that it has.
  template <typename CellAt>
  [[nodiscard]] bool is_right(const CellAt& cell_at) const {
    const std::uint64_t checksum = of(cell_at);
    const Cell held = cell_at(checksum_place_);
    const auto* number = std::get_if<std::int64_t>(&held);
    return number != nullptr && std::bit_cast<std::uint64_t>(*number) == checksum;
  }

 private:
  std::vector<std::uint64_t> salts_;
  std::vector<std::size_t> places_;
  std::size_t checksum_place_;
};

// The numbers that some places of a row may hold.
class RowRanges {
 public:
  // Throws std::invalid_argument unless all four are of one size.
  RowRanges(std::span<const std::size_t> places, std::span<const double> lows,
            std::span<const double> highs, const std::vector<bool>& nullable);

  template <typename CellAt>
  [[nodiscard]] bool hold(const CellAt& cell_at) const {
    for (const Range& range : ranges_) {
      if (!range.holds(cell_at(range.place))) {
        return false;
      }
    }
    return true;
  }

 private:
  struct Range {
    std::size_t place;
    double low;
    double high;
    bool is_nullable;

    // A text or bytes are no number, and lie outside of every range.
    [[nodiscard]] bool holds(const Cell& cell) const;
  };

  std::vector<Range> ranges_;
};

}  // namespace oneiros
