// Columns are read twice: once for the checksums, column by column, and once by row for SQLite. A
// cell that all rows have is hashed once and bound once, since SQLite keeps bindings between runs
// of a statement; of a usual import, that is most columns.
#include "store/row_inserter.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace oneiros {

void checksums_by_column(const RowChecksum& check, std::span<const CellColumn> columns,
                         std::span<std::uint64_t> checksums) {
  std::ranges::fill(checksums, 0);
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint64_t salt = check.salts()[i];
    const CellColumn& column = columns[i];
    if (column.size() == 1) {
      shared ^= cell_checksum(salt, column.front());
      continue;
    }
    for (std::size_t row = 0; row < checksums.size(); ++row) {
      checksums[row] ^= cell_checksum(salt, column[row]);
    }
  }
  for (std::uint64_t& checksum : checksums) {
    checksum ^= shared;
  }
}

RowInserter::RowInserter(sqlite3* connection, std::string sql, RowChecksum check)
    : sqlite_(*loaded_sqlite()),
      connection_(connection),
      sql_(std::move(sql)),
      check_(std::move(check)) {}

bool RowInserter::insert_rows(std::span<const CellColumn> columns,
                              std::span<const std::uint64_t> checksums) const {
  sqlite3_stmt* const statement = statement_.get();
  std::vector<std::size_t> varying;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].size() > 1) {
      varying.push_back(i);
    } else if (!bind(sqlite_, statement, static_cast<int>(i) + 1, columns[i].front())) {
      return false;
    }
  }
  const int last = static_cast<int>(columns.size()) + 1;
  for (std::size_t row = 0; row < checksums.size(); ++row) {
    for (const std::size_t i : varying) {
      if (!bind(sqlite_, statement, static_cast<int>(i) + 1, columns[i][row])) {
        return false;
      }
    }
    if (!bind(sqlite_, statement, last, std::bit_cast<std::int64_t>(checksums[row])) ||
        !run(sqlite_, statement)) {
      return false;
    }
  }
  return true;
}

std::optional<RowInserter::Failure> RowInserter::insert(std::span<const CellColumn> columns,
                                                        std::span<std::uint64_t> checksums) {
  checksums_by_column(check_, columns, checksums);
  const HeldMutex held(sqlite_, connection_);
  if (statement_ == nullptr) {
    statement_ = prepared(connection_, sql_);
  }
  std::optional<Failure> failure;
  if (statement_ == nullptr || !insert_rows(columns, checksums)) {
    failure = Failure{sqlite_.extended_errcode(connection_), sqlite_.errmsg(connection_)};
  }
  if (statement_ != nullptr) {
    sqlite_.clear_bindings(statement_.get());  // the cells belong to the caller
  }
  return failure;
}

}  // namespace oneiros
