// Checks of a row before it is used: its checksum, and the ranges of its numbers. Cells are
// requested by column index through a callable, so that rows of any form can be checked.
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

// The columns covered by a checksum, and the column that holds it.
class RowChecksum {
 public:
  // Throws std::invalid_argument unless there is one place per column.
  RowChecksum(std::span<const std::string> columns, std::vector<std::size_t> places,
              std::size_t checksum_place);

  // By covered place: the salt of its column.
  [[nodiscard]] std::span<const std::uint64_t> salts() const noexcept { return salts_; }

  // The checksum of a row. `cell_at(place)` returns a Cell.
  template <typename CellAt>
  [[nodiscard]] std::uint64_t of(const CellAt& cell_at) const {
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      checksum ^= cell_checksum(salts_[i], cell_at(places_[i]));
    }
    return checksum;
  }

  // True if the stored checksum equals the computed one.
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

// Ranges of the numbers in some columns.
class RowRanges {
 public:
  // Throws std::invalid_argument unless all four have the same size.
  RowRanges(std::span<const std::size_t> places, std::span<const double> lows,
            std::span<const double> highs, const std::vector<bool>& nullable);

  // True if every cell is in its range; NULL only where that is allowed.
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

    // Text and bytes are outside every range.
    [[nodiscard]] bool holds(const Cell& cell) const;
  };

  std::vector<Range> ranges_;
};

}  // namespace oneiros
