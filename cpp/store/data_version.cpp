// PRAGMA data_version on a prepared statement.
#include "store/data_version.h"

namespace oneiros {

std::optional<std::int64_t> DataVersion::read() {
  const Sqlite& sqlite = *loaded_sqlite();
  if (statement_ == nullptr) {
    statement_ = prepared(connection_, "PRAGMA data_version");
    if (statement_ == nullptr) {
      return std::nullopt;
    }
  }
  std::optional<std::int64_t> found;
  if (sqlite.step(statement_.get()) == Sqlite::kRow) {
    found = sqlite.value_int64(sqlite.column_value(statement_.get(), 0));
  }
  sqlite.reset(statement_.get());
  return found;
}

}  // namespace oneiros
