// Lifecycle state as struct of arrays: one row a memory. Source: docs/systems/fields.md.
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

// Values for one column, in the column's own type.
using AnyValues = std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>,
                               std::span<const std::uint32_t>, std::span<const std::int16_t>,
                               std::span<const float>, std::span<const double>>;

struct ColumnValues {
  std::string_view name;
  AnyValues values;
};

// Every column of fields.md. A value never moves while the object lives: each column grows inside
// address space reserved for it, so a view stays valid and sees later writes to its rows.
// Thread-safe: append, write and reinforce exclude one another and every Reader.
class Columns {
 public:
  // Reserves room for `rows` rows (addresses only), less where the system refuses that much.
  // Throws std::bad_alloc when it refuses room for kFewestRows.
  explicit Columns(std::size_t rows = kMostRows);

  static constexpr std::size_t kMostRows = std::size_t{1} << 28;
  static constexpr std::size_t kFewestRows = std::size_t{1} << 16;

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // One section a column, to be written while nothing else writes; valid until then.
  [[nodiscard]] std::vector<SnapshotSection> sections() const;
  // Takes over the rows of a snapshot, which are mapped: memory is taken where they are written to.
  // Throws SnapshotDamaged unless there is a section a column, all of as many rows, and, unless the
  // snapshot is known to be our own, every value in its range. REQUIRES: it has no rows, and goes
  // if this throws.
  void read(const SnapshotReader& snapshot);

  // Adds `count` rows holding the defaults and returns the first of them.
  // Throws std::overflow_error when the rows would pass capacity(), std::bad_alloc when the system
  // refuses memory; both leave the rows as they were.
  std::uint32_t append(std::size_t count);

  // Writes values[c].values[i] to row rows[i] of each column c; of a row given twice the last wins.
  // Throws std::invalid_argument, before anything is written, for an unknown name, another type or
  // length, a row that does not exist, or a value outside its column's range.
  void write(std::span<const std::uint32_t> rows, std::span<const ColumnValues> values);

  // R20 for each row in turn, session_spread[i] being the size of the row's set of sessions.
  // Throws std::invalid_argument, before anything is written, for another length, a row that does
  // not exist, a spread of 0, a now_seconds that is not finite.
  void reinforce(std::span<const std::uint32_t> rows, double now_seconds,
                 std::span<const std::uint32_t> session_spread, const ReinforcementRule& rule);

  // The values of a column, one a row that exists now; valid as long as the object. Reading them
  // outside a Reader while another thread writes gives old or new values.
  template <Column Which>
  [[nodiscard]] std::span<const ValueOf<Which>> values() const noexcept {
    return {values_of<ValueOf<Which>>(static_cast<std::size_t>(Which)), size()};
  }
  [[nodiscard]] AnyValues values(Column column) const;

  // Keeps writers out while it lives.
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
  [[nodiscard]] T* values_of(std::size_t column) const noexcept {
    return static_cast<T*>(memory_[column].data());
  }
  void reserve(std::size_t rows);
  void open(std::size_t rows);
  void fill_with_defaults(std::size_t begin, std::size_t end);
  void check_rows(std::span<const std::uint32_t> rows) const;

  mutable std::shared_mutex mutex_;
  std::array<AddressRange, kColumnCount> memory_;
  std::size_t capacity_ = 0;
  std::size_t open_rows_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace oneiros
