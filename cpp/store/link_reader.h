// Reading and verification of the store's links, without Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "association/stored_links.h"
#include "store/row_checks.h"
#include "store/sqlite.h"
#include "store/statement.h"

namespace oneiros {

// A statement prepared on one connection. For use by one thread at a time.
class LinkReader {
 public:
  // `sql` has one parameter, a revision, and returns the columns that `check` covers in this order,
  // then the checksum: first, second, revision, kind, weight, created_at, co_retrieved_at.
  // REQUIRES: loaded_sqlite(); the connection stays open until this object is destroyed.
  LinkReader(sqlite3* connection, std::string sql, RowChecksum check);

  // The links of all rows. No value if one of them cannot be read, is damaged or makes no sense.
  // Holds the connection's mutex throughout.
  [[nodiscard]] std::optional<StoredLinks> read(std::int64_t after);

 private:
  [[nodiscard]] bool take_row(StoredLinks& links) const;

  const Sqlite& sqlite_;
  sqlite3* connection_;
  std::string sql_;
  RowChecksum check_;
  Statement statement_;
};

}  // namespace oneiros
