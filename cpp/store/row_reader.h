// Reading and verification of the store's rows by number, without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/cell.h"
#include "store/row_checks.h"
#include "store/sqlite.h"
#include "store/statement.h"

namespace oneiros {

// What to read of a row, and the checks it must pass.
struct RowQuery {
  std::string sql;                // one parameter, the number; at most one row
  std::size_t width;              // number of columns
  std::vector<std::size_t> kept;  // columns that are returned
  std::vector<RowChecksum> checksums;
  std::optional<RowRanges> ranges;
};

// The rows that were read, with copies of their cells.
class ReadRows {
 public:
  // The cells of RowQuery::kept, in its order; empty if there is no valid row of that number.
  [[nodiscard]] std::span<const Cell> operator[](std::size_t i) const {
    return found_[i] ? std::span(cells_).subspan(i * width_, width_) : std::span<const Cell>();
  }

 private:
  friend class RowReader;

  ReadRows(std::size_t rows, std::size_t width)
      : width_(width), found_(rows, false), cells_(rows * width) {}

  [[nodiscard]] Cell copy_of(const Cell& cell);

  std::size_t width_;
  std::vector<bool> found_;
  std::vector<Cell> cells_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> contents_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>(std::size_t{1} << 14U);
};

// A statement prepared on one connection. For use by one thread at a time.
class RowReader {
 public:
  // REQUIRES: loaded_sqlite(); the connection stays open until this object is destroyed.
  RowReader(sqlite3* connection, std::shared_ptr<const RowQuery> query);
  ~RowReader();
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  // Reads the rows of these numbers from one state of the store. If a row cannot be read, it and
  // all later ones are left out.
  [[nodiscard]] ReadRows read(std::span<const std::int64_t> numbers);

 private:
  void take_row(ReadRows& rows, std::size_t i) const;

  const Sqlite& sqlite_;
  sqlite3* connection_;
  std::shared_ptr<const RowQuery> query_;
  Statement row_;
  Statement begin_;
  Statement commit_;
};

}  // namespace oneiros
