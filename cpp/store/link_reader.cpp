// Links come in the order of their numbers and are verified on SQLite's own pages. A row that is
// not as it should be ends the reading: what is wrong with it is for the caller to find out, row by
// row.
#include "store/link_reader.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "association/link.h"

namespace oneiros {

namespace {

enum Place : std::size_t { first, second, revision, kind, weight, created, last, checksum, width };

class Resetting {
 public:
  Resetting(const Sqlite& sqlite, sqlite3_stmt* statement)
      : sqlite_(sqlite), statement_(statement) {}
  ~Resetting() { sqlite_.reset(statement_); }
  Resetting(const Resetting&) = delete;
  Resetting& operator=(const Resetting&) = delete;

 private:
  const Sqlite& sqlite_;
  sqlite3_stmt* statement_;
};

}  // namespace

LinkReader::LinkReader(sqlite3* connection, std::string sql, RowChecksum check)
    : sqlite_(*loaded_sqlite()),
      connection_(connection),
      sql_(std::move(sql)),
      check_(std::move(check)) {}

std::optional<StoredLinks> LinkReader::read(std::int64_t after) {
  const HeldMutex held(sqlite_, connection_);
  if (statement_ == nullptr) {
    statement_ = prepared(connection_, sql_);
    if (statement_ == nullptr ||
        static_cast<std::size_t>(sqlite_.column_count(statement_.get())) != Place::width) {
      statement_ = nullptr;
      return std::nullopt;
    }
  }
  const Resetting resetting(sqlite_, statement_.get());
  sqlite_.bind_int64(statement_.get(), 1, after);
  StoredLinks links;
  int outcome = sqlite_.step(statement_.get());
  for (; outcome == Sqlite::kRow; outcome = sqlite_.step(statement_.get())) {
    if (!take_row(links)) {
      return std::nullopt;
    }
  }
  return outcome == Sqlite::kDone ? std::optional(std::move(links)) : std::nullopt;
}

bool LinkReader::take_row(StoredLinks& links) const {
  std::array<Cell, Place::width> cells;
  for (std::size_t place = 0; place < cells.size(); ++place) {
    cells[place] =
        cell_of(sqlite_, sqlite_.column_value(statement_.get(), static_cast<int>(place)));
  }
  if (!check_.is_right([&](std::size_t place) { return cells[place]; })) {
    return false;
  }
  const auto* one = std::get_if<std::int64_t>(&cells[Place::first]);
  const auto* other = std::get_if<std::int64_t>(&cells[Place::second]);
  const auto* link_kind = std::get_if<std::int64_t>(&cells[Place::kind]);
  const auto* link_weight = std::get_if<double>(&cells[Place::weight]);
  const auto* created_at = std::get_if<double>(&cells[Place::created]);
  const auto* last_at = std::get_if<double>(&cells[Place::last]);
  const bool was_found = !std::holds_alternative<std::monostate>(cells[Place::last]);
  if (one == nullptr || other == nullptr || *one == *other || link_kind == nullptr ||
      *link_kind < 0 || *link_kind >= static_cast<std::int64_t>(kLinkKindNames.size()) ||
      link_weight == nullptr || !(*link_weight >= 0.0 && *link_weight <= 1.0) ||
      created_at == nullptr || !std::isfinite(*created_at) ||
      (was_found && (last_at == nullptr || !std::isfinite(*last_at)))) {
    return false;
  }
  links.first.push_back(*one);
  links.second.push_back(*other);
  links.kind.push_back(static_cast<std::uint8_t>(*link_kind));
  links.weight.push_back(*link_weight);
  links.created_seconds.push_back(*created_at);
  links.last_seconds.push_back(was_found ? *last_at : std::numeric_limits<double>::quiet_NaN());
  return true;
}

}  // namespace oneiros
