// The order of SQLite's function table (sqlite3_api_routines in sqlite3ext.h) never changes: new
// functions are appended (https://www.sqlite.org/loadext.html). cpp/tests/store compares the
// positions used here with the header.
#include "store/sqlite.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace oneiros {

namespace {

using Function = void (*)();

template <typename Signature>
void take(Signature*& into, const Function* table, std::size_t place) {
  into = reinterpret_cast<Signature*>(table[place]);
}

constexpr int kFirstWithAll = 3'020'000;  // the first version with prepare_v3
constexpr int kError = 1;
constexpr int kLoadedForGood = 256;  // SQLITE_OK_LOAD_PERMANENTLY

Sqlite functions;
std::atomic<const Sqlite*> loaded{nullptr};

Sqlite functions_of(const Function* table) {
  Sqlite found{};
  take(found.bind_blob, table, 2);
  take(found.bind_double, table, 3);
  take(found.bind_int64, table, 5);
  take(found.bind_null, table, 6);
  take(found.bind_text, table, 10);
  take(found.column_count, table, 22);
  take(found.column_value, table, 39);
  take(found.errmsg, table, 53);
  take(found.finalize, table, 57);
  take(found.get_autocommit, table, 60);
  take(found.libversion_number, table, 67);
  take(found.reset, table, 77);
  take(found.step, table, 94);
  take(found.total_changes, table, 97);
  take(found.value_blob, table, 102);
  take(found.value_bytes, table, 103);
  take(found.value_double, table, 105);
  take(found.value_int64, table, 107);
  take(found.value_text, table, 109);
  take(found.value_type, table, 113);
  take(found.clear_bindings, table, 118);
  take(found.mutex_enter, table, 131);
  take(found.mutex_leave, table, 133);
  take(found.db_mutex, table, 164);
  take(found.extended_errcode, table, 166);
  take(found.stmt_status, table, 170);
  if (found.libversion_number() >= kFirstWithAll) {
    take(found.prepare_v3, table, 217);
  }
  return found;
}

}  // namespace

const Sqlite* loaded_sqlite() noexcept { return loaded.load(std::memory_order_acquire); }

}  // namespace oneiros

extern "C" int sqlite3_oneiros_init(sqlite3* /*connection*/, char** /*message*/,
                                    const void* routines) {
  static const bool is_usable = [routines] {
    oneiros::functions = oneiros::functions_of(static_cast<const oneiros::Function*>(routines));
    return oneiros::functions.prepare_v3 != nullptr;
  }();
  if (!is_usable) {
    return oneiros::kError;
  }
  oneiros::loaded.store(&oneiros::functions, std::memory_order_release);
  return oneiros::kLoadedForGood;
}
