// The functions of the SQLite library that Python's module apsw contains, for statements on
// connections that apsw opened.
//
// A process must not open a file through two copies of SQLite: closing one releases the other's
// POSIX locks. So no SQLite is linked here. SQLite passes its functions to extensions that it
// loads, and this library can be loaded as one; see sqlite3_oneiros_init below.
#pragma once

#include <cstdint>

struct sqlite3;
struct sqlite3_mutex;
struct sqlite3_stmt;
struct sqlite3_value;

namespace oneiros {

// The functions used by the core, with the signatures of SQLite's C interface. A table instead of
// linked symbols, filled once when SQLite loads the library.
struct Sqlite {
  // The last argument says how long SQLite may read the bytes; null: as long as they are bound.
  int (*bind_blob)(sqlite3_stmt*, int, const void*, int, void (*)(void*));
  int (*bind_double)(sqlite3_stmt*, int, double);
  int (*bind_int64)(sqlite3_stmt*, int, std::int64_t);
  int (*bind_null)(sqlite3_stmt*, int);
  int (*bind_text)(sqlite3_stmt*, int, const char*, int, void (*)(void*));
  int (*clear_bindings)(sqlite3_stmt*);
  int (*column_count)(sqlite3_stmt*);
  sqlite3_value* (*column_value)(sqlite3_stmt*, int);
  const char* (*errmsg)(sqlite3*);
  int (*extended_errcode)(sqlite3*);
  int (*finalize)(sqlite3_stmt*);
  int (*get_autocommit)(sqlite3*);
  int (*libversion_number)();
  void (*mutex_enter)(sqlite3_mutex*);
  void (*mutex_leave)(sqlite3_mutex*);
  int (*reset)(sqlite3_stmt*);
  int (*step)(sqlite3_stmt*);
  int (*stmt_status)(sqlite3_stmt*, int, int);
  int (*total_changes)(sqlite3*);
  const void* (*value_blob)(sqlite3_value*);
  int (*value_bytes)(sqlite3_value*);
  double (*value_double)(sqlite3_value*);
  std::int64_t (*value_int64)(sqlite3_value*);
  const unsigned char* (*value_text)(sqlite3_value*);
  int (*value_type)(sqlite3_value*);
  sqlite3_mutex* (*db_mutex)(sqlite3*);
  int (*prepare_v3)(sqlite3*, const char*, int, unsigned, sqlite3_stmt**, const char**);

  // Result codes of step() and fundamental types of values, as in sqlite3.h.
  static constexpr int kOk = 0;
  static constexpr int kBusy = 5;
  static constexpr int kIoError = 10;
  static constexpr int kFull = 13;
  static constexpr int kCorrupt = 11;
  static constexpr int kNotADatabase = 26;
  static constexpr int kCorruptIndex = 779;  // an extended code
  static constexpr int kRow = 100;
  static constexpr int kDone = 101;
  static constexpr int kInteger = 1;
  static constexpr int kFloat = 2;
  static constexpr int kText = 3;
  static constexpr int kBlob = 4;
  static constexpr int kSteps =
      4;  // status counter of a statement: steps, as a progress handler counts
  static constexpr unsigned kPersistent = 1;  // hint for statements that are kept
};

// Null until SQLite has loaded this library as an extension. Thread-safe.
[[nodiscard]] const Sqlite* loaded_sqlite() noexcept;

}  // namespace oneiros

// Called by SQLite to load this library as an extension, from any thread; only the first call has
// an effect.
extern "C" int sqlite3_oneiros_init(sqlite3* connection, char** message, const void* routines);
