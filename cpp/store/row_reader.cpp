// Reading rows of the store by number, with verification.
//
// One prepared statement reads one row, in a read transaction around all of them, so that the rows
// come from one state. That costs less than statements with lists of each length, and SQLite only
// descends two B-trees per memory. Checksums are computed on SQLite's own pages; cells that are
// kept are copied, since the next step invalidates them.
#include "store/row_reader.h"

#include <array>
#include <cstring>

namespace oneiros {

namespace {

// Ends the transaction it was given, however the block is left.
class Ending {
 public:
  Ending(const Sqlite& sqlite, sqlite3_stmt* row, sqlite3_stmt* commit)
      : sqlite_(sqlite), row_(row), commit_(commit) {}
  ~Ending() {
    sqlite_.reset(row_);
    if (commit_ != nullptr) {
      static_cast<void>(run(sqlite_, commit_));  // a read has nothing to lose
    }
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  const Sqlite& sqlite_;
  sqlite3_stmt* row_;
  sqlite3_stmt* commit_;  // null: the transaction belongs to the caller
};

}  // namespace

// Copies text and bytes into the buffer of the result.
Cell ReadRows::copy_of(const Cell& cell) {
  const auto copied = [this](const void* from, std::size_t size) {
    void* const to = contents_->allocate(size + 1, 1);  // + 1: an empty copy has an address too
    if (size > 0) {
      std::memcpy(to, from, size);
    }
    return to;
  };
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    return std::string_view(static_cast<const char*>(copied(text->data(), text->size())),
                            text->size());
  }
  if (const auto* bytes = std::get_if<std::span<const std::byte>>(&cell)) {
    return std::span(static_cast<const std::byte*>(copied(bytes->data(), bytes->size())),
                     bytes->size());
  }
  return cell;
}

RowReader::RowReader(sqlite3* connection, std::shared_ptr<const RowQuery> query)
    : sqlite_(*loaded_sqlite()), connection_(connection), query_(std::move(query)) {}

RowReader::~RowReader() = default;

// Opens a read transaction unless the caller has one, and holds the connection's mutex throughout.
ReadRows RowReader::read(std::span<const std::int64_t> numbers) {
  ReadRows rows(numbers.size(), query_->kept.size());
  const HeldMutex held(sqlite_, connection_);
  if (row_ == nullptr) {
    row_ = prepared(connection_, query_->sql);
    begin_ = prepared(connection_, "BEGIN");
    commit_ = prepared(connection_, "COMMIT");
    if (row_ == nullptr || begin_ == nullptr || commit_ == nullptr ||
        static_cast<std::size_t>(sqlite_.column_count(row_.get())) != query_->width) {
      row_ = nullptr;
      return rows;
    }
  }
  const bool is_own = sqlite_.get_autocommit(connection_) != 0;
  if (is_own && !run(sqlite_, begin_.get())) {
    return rows;
  }
  const Ending ending(sqlite_, row_.get(), is_own ? commit_.get() : nullptr);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sqlite_.bind_int64(row_.get(), 1, numbers[i]);
    const int outcome = sqlite_.step(row_.get());
    if (outcome == Sqlite::kRow) {
      take_row(rows, i);
    } else if (outcome != Sqlite::kDone) {
      break;
    }
    sqlite_.reset(row_.get());
  }
  return rows;
}

// Checks ranges and checksums before anything of the row is copied.
void RowReader::take_row(ReadRows& rows, std::size_t i) const {
  const auto cell_at = [this](std::size_t place) {
    return cell_of(sqlite_, sqlite_.column_value(row_.get(), static_cast<int>(place)));
  };
  for (const RowChecksum& checksum : query_->checksums) {
    if (!checksum.is_right(cell_at)) {
      return;
    }
  }
  if (query_->ranges && !query_->ranges->hold(cell_at)) {
    return;
  }
  Cell* into = &rows.cells_[i * rows.width_];
  for (const std::size_t place : query_->kept) {
    *into++ = rows.copy_of(cell_at(place));
  }
  rows.found_[i] = true;
}

}  // namespace oneiros
