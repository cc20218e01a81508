// Insertion of many rows by column into one table, within the caller's transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/cell.h"
#include "store/row_checks.h"
#include "store/sqlite.h"
#include "store/statement.h"

namespace oneiros {

// Cells of a column: one per row, or a single one that all rows have.
using CellColumn = std::vector<Cell>;

// The checksums of rows given by column, in the order of the check's columns, into `checksums`: one
// per row. REQUIRES: each column has one cell or as many as there are rows.
void checksums_by_column(const RowChecksum& check, std::span<const CellColumn> columns,
                         std::span<std::uint64_t> checksums);

// A statement prepared on one connection. For use by one thread at a time.
class RowInserter {
 public:
  // The error of a row's statement. The rows before it are inserted.
  struct Failure {
    int code;  // SQLite's extended result code
    std::string message;
  };

  // `sql` binds the columns of `check` in their order, then the row's checksum.
  // REQUIRES: loaded_sqlite(); the connection stays open until this object is destroyed.
  RowInserter(sqlite3* connection, std::string sql, RowChecksum check);

  // As many as the columns of a row, without its checksum.
  [[nodiscard]] std::size_t width() const noexcept { return check_.salts().size(); }

  // Inserts a row per place of `checksums` and puts its checksum there. Holds the connection's
  // mutex all the time; a handler of the connection may stop it between rows or within one.
  // REQUIRES: `width()` columns, each with one cell or as many as there are rows.
  [[nodiscard]] std::optional<Failure> insert(std::span<const CellColumn> columns,
                                              std::span<std::uint64_t> checksums);

 private:
  [[nodiscard]] bool insert_rows(std::span<const CellColumn> columns,
                                 std::span<const std::uint64_t> checksums) const;

  const Sqlite& sqlite_;
  sqlite3* connection_;
  std::string sql_;
  RowChecksum check_;
  Statement statement_;
};

}  // namespace oneiros
