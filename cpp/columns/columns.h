// Lifecycle state as struct of arrays, one row per memory. Source: docs/systems/fields.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "columns/address_range.h"
#include "columns/reinforcement.h"
#include "columns/schema.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"

namespace oneiros {

// Values of one column, in its type. Not owned.
using AnyValues = std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>,
                               std::span<const std::uint32_t>, std::span<const std::int16_t>,
                               std::span<const float>, std::span<const double>>;

// A named column of values, as write() takes it.
struct ColumnValues {
  std::string_view name;
  AnyValues values;
};

// Every column of fields.md. Values never move: each column grows inside reserved address space, so
// a view stays valid as long as the object and sees later writes to its rows.
//
// Thread safety: append, write and reinforce exclude one another and every Reader. Views outside a
// Reader may be read at any time, but may show old or new values of concurrent writes.
class Columns {
 public:
  // Has room for `rows` rows, or for fewer if the system refuses that many addresses; takes them as
  // it grows. Throws std::bad_alloc if it refuses kFewestRows.
  explicit Columns(std::size_t rows = kMostRows);

  static constexpr std::size_t kMostRows = std::size_t{1} << 28;
  static constexpr std::size_t kFewestRows = std::size_t{1} << 16;

  // The number of rows. Rows below it are initialised.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // The largest possible number of rows.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // One section per column. They refer to the columns and must be written before any other change.
  [[nodiscard]] std::vector<SnapshotSection> sections() const;
  // Takes the rows of a snapshot, mapped copy-on-write. Throws SnapshotDamaged unless each column
  // has a section, all with the same number of rows, and, unless the snapshot was written by this
  // process's store on this machine (is_own()), every value is in its range. REQUIRES: there are no
  // rows yet; the object is discarded if this throws.
  void read(const SnapshotReader& snapshot);

  // Adds `count` rows with default values and returns the first. Throws std::overflow_error beyond
  // capacity() and std::bad_alloc; in both cases the rows are unchanged.
  std::uint32_t append(std::size_t count);

  // Writes values[c].values[i] to row rows[i] of each column c. If a row is repeated, the last
  // value wins. Throws std::invalid_argument, before anything is written, for an unknown name, a
  // wrong type or length, a row that does not exist, or a value out of its column's range.
  void write(std::span<const std::uint32_t> rows, std::span<const ColumnValues> values);

  // Applies R20 to each row in turn; session_spread[i] is the number of sessions of rows[i]. Throws
  // std::invalid_argument, before anything is written, for a wrong length, a row that does not
  // exist, a spread of 0 and a now_seconds that is not finite.
  void reinforce(std::span<const std::uint32_t> rows, double now_seconds,
                 std::span<const std::uint32_t> session_spread, const ReinforcementRule& rule);

  // The values of a column for the rows that exist now. Valid as long as the object.
  template <Column Which>
  [[nodiscard]] std::span<const ValueOf<Which>> values() const noexcept {
    return {values_of<ValueOf<Which>>(static_cast<std::size_t>(Which)), size()};
  }
  [[nodiscard]] AnyValues values(Column column) const;

  // The rows of memories among the first `end`, whose numbers in the store ascend; -1 where none
  // has the number. In any order.
  [[nodiscard]] std::vector<std::int64_t> rows_of_sequences(std::span<const std::int64_t> sequences,
                                                            std::size_t end) const;

  // A shared lock: writers wait while it exists.
  class Reader {
   public:
    explicit Reader(const Columns& columns) : lock_(columns.mutex_), columns_(columns) {}
    [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
    template <Column Which>
    [[nodiscard]] std::span<const ValueOf<Which>> values() const noexcept {
      return columns_.values<Which>();
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const Columns& columns_;
  };

 private:
  template <typename T>
  // The memory of a column, typed.
  [[nodiscard]] T* values_of(std::size_t column) const noexcept {
    return static_cast<T*>(memory_[column].data());
  }
  // Finds addresses for all columns.
  void reserve(std::size_t rows);
  // Commits memory for that many rows in all columns.
  void open(std::size_t rows);
  void fill_with_defaults(std::size_t begin, std::size_t end);
  // Throws std::invalid_argument for a row that does not exist.
  void check_rows(std::span<const std::uint32_t> rows) const;

  mutable std::shared_mutex mutex_;
  std::array<AddressRange, kColumnCount> memory_;
  std::size_t capacity_ = 0;
  std::size_t open_rows_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace oneiros
