// The temporal order of memories within each session. Source: docs/systems/house.md H4.
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

// One doubly linked list per session, ordered by event_at, or created_at if that is missing; equal
// times by row. Rows without a session and deleted rows are in no list. Thread safety: place and
// remove exclude one another and every Reader.
class SessionOrder {
 public:
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

  // Moves rows to where the columns place them now. Cost: sorting the rows, and per session a walk
  // from its end back to the earliest of them; constant if they are its last. Does not change rows
  // that are in place. Throws std::invalid_argument, before any change, for a row that does not
  // exist.
  void place(const Columns& columns, std::span<const std::uint32_t> rows);
  // The same for all rows of the columns.
  void place_all(const Columns& columns);
  // Removes a row from its list, if it is in one.
  void remove(std::uint32_t row);

  // A shared lock: writers wait while it exists.
  class Reader {
   public:
    explicit Reader(const SessionOrder& order) : lock_(order.mutex_), order_(order) {}
    [[nodiscard]] bool is_empty() const noexcept { return order_.ends_.empty(); }
    // The adjacent row in the session, or kNobody.
    [[nodiscard]] std::uint32_t before(std::uint32_t row) const noexcept {
      return row < order_.places_.size() ? order_.places_[row].before : kNobody;
    }
    [[nodiscard]] std::uint32_t after(std::uint32_t row) const noexcept {
      return row < order_.places_.size() ? order_.places_[row].after : kNobody;
    }

    // The session's number; 0 if the row is in no list.
    [[nodiscard]] std::uint32_t session(std::uint32_t row) const noexcept {
      return row < order_.places_.size() ? order_.places_[row].session : 0;
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const SessionOrder& order_;
  };

 private:
  // The links of a row in its session's list.
  struct Place {
    std::uint32_t before = kNobody;
    std::uint32_t after = kNobody;
    std::uint32_t session = 0;  // 0: in no list
  };
  // The first and last row of a session.
  struct Ends {
    std::uint32_t first = kNobody;
    std::uint32_t last = kNobody;
  };
  // The sort key of a row: its session, time and number.
  struct Key;

  static Key key_of(const Columns::Reader& columns, std::uint32_t session, std::uint32_t row);
  // True if a row is in place, judging by its neighbours in the list.
  [[nodiscard]] bool is_in_place(const Columns::Reader& columns, std::uint32_t row) const;
  // Removes a row from its list. REQUIRES: it is in one.
  void unlink(std::uint32_t row);
  void link(std::uint32_t row, std::uint32_t session, Ends& ends, std::uint32_t before);
  void insert(const Columns::Reader& columns, std::span<const Key> keys);
  // Makes all lists at once if the rows of each session come in order, as in most stores; otherwise
  // returns false and changes nothing. REQUIRES: all lists are empty, and both locks are held.
  bool append_all(const Columns::Reader& columns);
  // place() with both locks held.
  void place_locked(const Columns::Reader& columns, std::span<const std::uint32_t> rows);

  mutable std::shared_mutex mutex_;
  std::vector<Place> places_;
  std::unordered_map<std::uint32_t, Ends> ends_;
};

}  // namespace oneiros
