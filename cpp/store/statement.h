// A prepared statement on a connection opened by apsw.
#pragma once

#include <memory>
#include <string>

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

}  // namespace oneiros
