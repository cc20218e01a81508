// Storing of one new memory in its own transaction, without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/cell.h"
#include "store/row_checks.h"
#include "store/sqlite.h"
#include "store/statement.h"

namespace oneiros {

// A query for a row that must not exist.
struct Obstacle {
  std::string sql;    // one parameter
  std::size_t place;  // the cell of the memory's row that is bound to the parameter
};

// The statements that store a memory. Rows of both tables begin with the memory's number and a
// revision, which the writer fills in; their checksum is bound last.
struct MemoryInsert {
  std::string memory;
  std::string lifecycle;
  RowChecksum memory_checksum;
  RowChecksum lifecycle_checksum;
  std::string last_revision;  // returns one number: the last commit's
  std::string next_sequence;  // returns one number: the next memory's
  std::string last_moment;    // returns the time of the last recorded commit, or no row
  std::string moment;         // records a commit: its revision, its time, their checksum
  RowChecksum moment_checksum;
  std::vector<Obstacle> obstacles;
};

// The numbers and checksums assigned to a stored memory.
struct StoredAs {
  std::int64_t sequence;
  std::int64_t revision;
  std::uint64_t memory_checksum;
  std::uint64_t lifecycle_checksum;
};

// Statements prepared on one connection. For use by one thread at a time.
class MemoryWriter {
 public:
  // A failure after which the content of the disk is uncertain: writing must stop for good.
  struct Failure {
    int code;  // SQLite's extended result code
    std::string message;
  };

  // A commit that meets a full disk is a failure if `stops_when_full`; else it is as if it had not
  // been tried.
  //
  // REQUIRES: loaded_sqlite(); the connection stays open until this object is destroyed.
  MemoryWriter(sqlite3* connection, std::shared_ptr<const MemoryInsert> insert,
               bool stops_when_full);

  // Stores a memory, durably. Overwrites the first two cells of `memory` and the first of
  // `lifecycle`. `last_revision` is that of the last commit the caller knows; later commits may
  // only be those of this object. The commit is recorded with `time`, or that of the last recorded
  // one if that is later; without a value, it is not recorded.
  //
  // No value if nothing was stored and no transaction is open: because of commits by others, an
  // obstacle, a transaction that was open already, a statement that SQLite rejected, or a failure.
  [[nodiscard]] std::optional<StoredAs> insert(std::span<Cell> memory, std::span<Cell> lifecycle,
                                               std::int64_t last_revision,
                                               std::optional<double> time);

  // The first failure of a write. Nothing is written after it.
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  // The state of the store after a commit of this object.
  struct State {
    std::int64_t data_version;  // changes with commits of other connections
    int total_changes;          // changes with writes of this connection
    std::int64_t revision;
    std::int64_t sequence;  // of the last memory
    std::int64_t first;     // the revision after which all commits are this object's
  };

  class Transaction;

  [[nodiscard]] bool prepare();
  [[nodiscard]] bool runs(sqlite3_stmt* statement) const;  // runs it to its end, without a row
  [[nodiscard]] std::optional<std::int64_t> number(sqlite3_stmt* statement) const;
  [[nodiscard]] std::optional<State> state() const;
  [[nodiscard]] bool is_free(std::span<const Cell> memory) const;
  [[nodiscard]] bool insert_row(sqlite3_stmt* statement, std::span<const Cell> cells,
                                std::uint64_t checksum) const;
  [[nodiscard]] bool write_rows(std::span<Cell> memory, std::span<Cell> lifecycle,
                                StoredAs& stored) const;
  [[nodiscard]] bool write_moment(std::int64_t revision, double time) const;
  void finish(sqlite3_stmt* statement) const;
  void note_failure(bool is_commit);

  const Sqlite& sqlite_;
  sqlite3* connection_;
  std::shared_ptr<const MemoryInsert> insert_;
  bool stops_when_full_;
  Statement begin_;
  Statement commit_;
  Statement roll_back_;
  Statement data_version_;
  Statement last_revision_;
  Statement next_sequence_;
  Statement memory_;
  Statement lifecycle_;
  Statement last_moment_;
  Statement moment_;
  std::vector<Statement> obstacles_;
  std::optional<State> known_;
  std::optional<Failure> failure_;
};

}  // namespace oneiros
