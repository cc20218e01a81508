// A fast path for storing one plain new memory. The rows equal those of the general write: the same
// columns and checksums, one revision. Anything else is left to the general write: if an obstacle
// or an error occurs, the transaction is rolled back and only that is reported.
#include "store/memory_writer.h"

#include <algorithm>
#include <array>
#include <bit>

namespace oneiros {

// Rolls a transaction back unless it was committed.
class MemoryWriter::Transaction {
 public:
  explicit Transaction(MemoryWriter& writer) : writer_(writer) {}
  ~Transaction() {
    if (writer_.sqlite_.get_autocommit(writer_.connection_) == 0 &&
        !writer_.runs(writer_.roll_back_.get())) {
      writer_.note_failure(true);
    }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

 private:
  MemoryWriter& writer_;
};

MemoryWriter::MemoryWriter(sqlite3* connection, std::shared_ptr<const MemoryInsert> insert,
                           bool stops_when_full)
    : sqlite_(*loaded_sqlite()),
      connection_(connection),
      insert_(std::move(insert)),
      stops_when_full_(stops_when_full) {}

bool MemoryWriter::prepare() {
  if (roll_back_ != nullptr) {
    return true;
  }
  obstacles_.clear();
  for (const Obstacle& obstacle : insert_->obstacles) {
    obstacles_.push_back(prepared(connection_, obstacle.sql));
    if (obstacles_.back() == nullptr) {
      return false;
    }
  }
  begin_ = prepared(connection_, "BEGIN IMMEDIATE");
  commit_ = prepared(connection_, "COMMIT");
  data_version_ = prepared(connection_, "PRAGMA data_version");
  last_revision_ = prepared(connection_, insert_->last_revision);
  next_sequence_ = prepared(connection_, insert_->next_sequence);
  memory_ = prepared(connection_, insert_->memory);
  lifecycle_ = prepared(connection_, insert_->lifecycle);
  last_moment_ = prepared(connection_, insert_->last_moment);
  moment_ = prepared(connection_, insert_->moment);
  for (const Statement* made :
       std::array{&begin_, &commit_, &data_version_, &last_revision_, &next_sequence_, &memory_,
                  &lifecycle_, &last_moment_, &moment_}) {
    if (*made == nullptr) {
      return false;
    }
  }
  roll_back_ = prepared(connection_, "ROLLBACK");  // prepared last: if it is set, all are
  return roll_back_ != nullptr;
}

// The connection may have a handler that SQLite calls after so many steps of a statement, counted
// over all its runs. It is Python's, where an interrupt could come: the count begins again here, so
// that no statement of a few hundred steps ever reaches it.
void MemoryWriter::finish(sqlite3_stmt* statement) const {
  sqlite_.reset(statement);
  sqlite_.stmt_status(statement, Sqlite::kSteps, 1);
}

bool MemoryWriter::runs(sqlite3_stmt* statement) const {
  const bool is_done = sqlite_.step(statement) == Sqlite::kDone;
  finish(statement);
  return is_done;
}

std::optional<std::int64_t> MemoryWriter::number(sqlite3_stmt* statement) const {
  std::optional<std::int64_t> found;
  if (sqlite_.step(statement) == Sqlite::kRow) {
    found = sqlite_.value_int64(sqlite_.column_value(statement, 0));
  }
  finish(statement);
  return found;
}

std::optional<MemoryWriter::State> MemoryWriter::state() const {
  const std::optional<std::int64_t> version = number(data_version_.get());
  if (!version) {
    return std::nullopt;
  }
  const int changes = sqlite_.total_changes(connection_);
  if (known_ && known_->data_version == *version && known_->total_changes == changes) {
    return known_;
  }
  const std::optional<std::int64_t> revision = number(last_revision_.get());
  const std::optional<std::int64_t> next = number(next_sequence_.get());
  if (!revision || !next) {
    return std::nullopt;
  }
  return State{*version, changes, *revision, *next - 1, *revision};
}

bool MemoryWriter::is_free(std::span<const Cell> memory) const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i) {
    sqlite3_stmt* const statement = obstacles_[i].get();
    const bool is_bound = bind(sqlite_, statement, 1, memory[insert_->obstacles[i].place]);
    const bool is_clear = is_bound && sqlite_.step(statement) == Sqlite::kDone;
    finish(statement);
    sqlite_.clear_bindings(statement);
    if (!is_clear) {
      return false;
    }
  }
  return true;
}

bool MemoryWriter::insert_row(sqlite3_stmt* statement, std::span<const Cell> cells,
                              std::uint64_t checksum) const {
  int place = 0;
  bool is_done = true;
  for (const Cell& cell : cells) {
    is_done = is_done && bind(sqlite_, statement, ++place, cell);
  }
  is_done = is_done && bind(sqlite_, statement, ++place, std::bit_cast<std::int64_t>(checksum)) &&
            runs(statement);
  sqlite_.clear_bindings(statement);  // the cells belong to the caller
  return is_done;
}

bool MemoryWriter::write_rows(std::span<Cell> memory, std::span<Cell> lifecycle,
                              StoredAs& stored) const {
  memory[0] = lifecycle[0] = stored.sequence;
  memory[1] = stored.revision;
  stored.memory_checksum =
      insert_->memory_checksum.of([memory](std::size_t place) { return memory[place]; });
  stored.lifecycle_checksum =
      insert_->lifecycle_checksum.of([lifecycle](std::size_t place) { return lifecycle[place]; });
  return insert_row(memory_.get(), memory, stored.memory_checksum) &&
         insert_row(lifecycle_.get(), lifecycle, stored.lifecycle_checksum);
}

// A recorded time never lies before an earlier one, whatever the clock says.
bool MemoryWriter::write_moment(std::int64_t revision, double time) const {
  if (sqlite_.step(last_moment_.get()) == Sqlite::kRow) {
    time = std::max(time, sqlite_.value_double(sqlite_.column_value(last_moment_.get(), 0)));
  }
  finish(last_moment_.get());
  const std::array<Cell, 2> cells{revision, time};
  const std::uint64_t checksum =
      insert_->moment_checksum.of([&cells](std::size_t place) { return cells[place]; });
  return insert_row(moment_.get(), cells, checksum);
}

// A statement that failed may have written to the log, and a commit may have been made.
void MemoryWriter::note_failure(bool is_commit) {
  const int code = sqlite_.extended_errcode(connection_);
  const int primary = code & 0xff;
  const bool is_of_disk = primary == Sqlite::kIoError || primary == Sqlite::kNotADatabase ||
                          (primary == Sqlite::kCorrupt && code != Sqlite::kCorruptIndex);
  const bool is_harmless =
      primary == Sqlite::kBusy || (primary == Sqlite::kFull && !stops_when_full_);
  if (!failure_ && !is_harmless && (is_commit || is_of_disk)) {
    failure_ = Failure{code, sqlite_.errmsg(connection_)};
  }
}

std::optional<StoredAs> MemoryWriter::insert(std::span<Cell> memory, std::span<Cell> lifecycle,
                                             std::int64_t last_revision,
                                             std::optional<double> time) {
  const HeldMutex held(sqlite_, connection_);
  if (failure_ || sqlite_.get_autocommit(connection_) == 0 || !prepare() || !runs(begin_.get())) {
    return std::nullopt;
  }
  const Transaction taken_back(*this);
  const std::optional<State> before = state();
  if (before && (last_revision < before->first || last_revision > before->revision)) {
    return std::nullopt;
  }
  StoredAs stored{};
  if (before) {
    stored.sequence = before->sequence + 1;
    stored.revision = before->revision + 1;
  }
  if (!before || !is_free(memory) || !write_rows(memory, lifecycle, stored) ||
      (time && !write_moment(stored.revision, *time))) {
    note_failure(false);
    return std::nullopt;
  }
  if (!runs(commit_.get())) {
    note_failure(true);
    return std::nullopt;
  }
  known_ = State{before->data_version, sqlite_.total_changes(connection_), stored.revision,
                 stored.sequence, before->first};
  return stored;
}

}  // namespace oneiros
