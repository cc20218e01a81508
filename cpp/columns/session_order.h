// Which memories stand next to each other in time within one session. Source: docs/systems/house.md
// H4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "columns/columns.h"

namespace oneiros {

// One doubly linked list a session, in order of event_at, where there is none created_at; of equal
// times the smaller row first. Rows without a session, and deleted ones, stand in none.
// Thread-safe: place and remove exclude one another and every Reader.
class SessionOrder {
 public:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  // Brings rows to where the columns now say they belong. Costs the sorting of the rows and, a
  // session, one walk over what lies between its end and the earliest of them: nothing where they
  // are its last or come before its first, or none moves.
  // Throws std::invalid_argument for a row that does not exist, before anything is changed.
  void place(const Columns& columns, std::span<const std::uint32_t> rows);
  // The same for all rows there are.
  void place_all(const Columns& columns);
  // Takes a row out; one that stands in no list is let be.
  void remove(std::uint32_t row);

  // Keeps writers out while it lives.
  class Reader {
   public:
    explicit Reader(const SessionOrder& order) : lock_(order.mutex_), order_(order) {}
    [[nodiscard]] bool is_empty() const noexcept { return order_.ends_.empty(); }
    // The row before or after; kNobody for none.
    [[nodiscard]] std::uint32_t before(std::uint32_t row) const noexcept {
      return row < order_.places_.size() ? order_.places_[row].before : kNobody;
    }
    [[nodiscard]] std::uint32_t after(std::uint32_t row) const noexcept {
      return row < order_.places_.size() ? order_.places_[row].after : kNobody;
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const SessionOrder& order_;
  };

 private:
  struct Place {
    std::uint32_t before = kNobody;
    std::uint32_t after = kNobody;
    std::uint32_t session = 0;  // 0: in no list
  };
  struct Ends {
    std::uint32_t first = kNobody;
    std::uint32_t last = kNobody;
  };
  struct Key;

  static Key key_of(const Columns::Reader& columns, std::uint32_t session, std::uint32_t row);
  // Whether a row stands where the columns say it belongs, as far as those beside it do.
  [[nodiscard]] bool is_in_place(const Columns::Reader& columns, std::uint32_t row) const;
  void unlink(std::uint32_t row);
  void link(std::uint32_t row, std::uint32_t session, std::uint32_t before);
  void insert(const Columns::Reader& columns, std::span<const Key> keys);
  void place_locked(const Columns::Reader& columns, std::span<const std::uint32_t> rows);

  mutable std::shared_mutex mutex_;
  std::vector<Place> places_;
  std::unordered_map<std::uint32_t, Ends> ends_;
};

}  // namespace oneiros
