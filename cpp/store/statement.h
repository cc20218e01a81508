// A prepared statement on a connection opened by apsw.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "store/cell.h"
#include "store/sqlite.h"

namespace oneiros {

struct StatementFinalizer {
  void operator()(sqlite3_stmt* statement) const { loaded_sqlite()->finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, StatementFinalizer>;

// Null if SQLite rejects it. REQUIRES: loaded_sqlite().
[[nodiscard]] inline Statement prepared(sqlite3* connection, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  loaded_sqlite()->prepare_v3(connection, sql.c_str(), static_cast<int>(sql.size()),
                              Sqlite::kPersistent, &statement, nullptr);
  return Statement(statement);
}

// Holds a connection's mutex, so that each call of SQLite finds it held already.
class HeldMutex {
 public:
  HeldMutex(const Sqlite& sqlite, sqlite3* connection)
      : sqlite_(sqlite), mutex_(sqlite.db_mutex(connection)) {
    sqlite_.mutex_enter(mutex_);
  }
  ~HeldMutex() { sqlite_.mutex_leave(mutex_); }
  HeldMutex(const HeldMutex&) = delete;
  HeldMutex& operator=(const HeldMutex&) = delete;

 private:
  const Sqlite& sqlite_;
  sqlite3_mutex* mutex_;
};

// Binds a cell to a parameter, the first being 1; whether it succeeded. The cell's source must stay
// unchanged until another value is bound or the bindings are cleared.
[[nodiscard]] inline bool bind(const Sqlite& sqlite, sqlite3_stmt* statement, int place,
                               const Cell& cell) {
  struct Visitor {
    const Sqlite& sqlite;
    sqlite3_stmt* statement;
    int place;
    int operator()(std::monostate /*none*/) const { return sqlite.bind_null(statement, place); }
    int operator()(std::int64_t value) const { return sqlite.bind_int64(statement, place, value); }
    int operator()(double value) const { return sqlite.bind_double(statement, place, value); }
    int operator()(std::string_view text) const {
      return sqlite.bind_text(statement, place, text.data(), static_cast<int>(text.size()),
                              nullptr);
    }
    int operator()(std::span<const std::byte> bytes) const {
      return sqlite.bind_blob(statement, place, bytes.data(), static_cast<int>(bytes.size()),
                              nullptr);
    }
  };
  return std::visit(Visitor{sqlite, statement, place}, cell) == Sqlite::kOk;
}

// The content of a value without a copy. It is valid until the statement's next step.
[[nodiscard]] inline Cell cell_of(const Sqlite& sqlite, sqlite3_value* value) {
  switch (sqlite.value_type(value)) {
    case Sqlite::kInteger:
      return sqlite.value_int64(value);
    case Sqlite::kFloat:
      return sqlite.value_double(value);
    case Sqlite::kText: {
      const auto* text = reinterpret_cast<const char*>(sqlite.value_text(value));
      const int size = sqlite.value_bytes(value);
      return text == nullptr ? std::string_view()
                             : std::string_view(text, static_cast<std::size_t>(size));
    }
    case Sqlite::kBlob: {
      const auto* bytes = static_cast<const std::byte*>(sqlite.value_blob(value));
      const int size = sqlite.value_bytes(value);
      return std::span(bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(size));
    }
    default:
      return std::monostate();
  }
}

// Runs a statement that gives no rows; whether it succeeded.
[[nodiscard]] inline bool run(const Sqlite& sqlite, sqlite3_stmt* statement) {
  const bool is_done = sqlite.step(statement) == Sqlite::kDone;
  sqlite.reset(statement);
  return is_done;
}

}  // namespace oneiros
