// Whether others have committed to the store's file.
#pragma once

#include <cstdint>
#include <optional>

#include "store/statement.h"

namespace oneiros {

// SQLite's number of a file's state as one connection sees it: it moves with every commit of other
// connections, in any process. For use by one thread at a time.
class DataVersion {
 public:
  // REQUIRES: loaded_sqlite(), and the connection is open until this is destroyed.
  explicit DataVersion(sqlite3* connection) : connection_(connection) {}

  // None where it cannot be read.
  [[nodiscard]] std::optional<std::int64_t> read();

 private:
  sqlite3* connection_;
  Statement statement_;
};

}  // namespace oneiros
