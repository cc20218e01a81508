// Detection of commits by other connections.
#pragma once

#include <cstdint>
#include <optional>

#include "store/statement.h"

namespace oneiros {

// SQLite's `data_version`, which changes with every commit of another connection, in any process.
// For use by one thread at a time.
class DataVersion {
 public:
  // REQUIRES: loaded_sqlite(); the connection stays open until this object is destroyed.
  explicit DataVersion(sqlite3* connection) : connection_(connection) {}

  // No value if it cannot be read.
  [[nodiscard]] std::optional<std::int64_t> read();

 private:
  sqlite3* connection_;
  Statement statement_;
};

}  // namespace oneiros
