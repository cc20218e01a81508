#include "store/sqlite.h"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#if __has_include(<sqlite3ext.h>)
#include <sqlite3ext.h>
#endif

namespace {

// A table of functions, each of which tells its place.
template <std::size_t Place>
int place() {
  return static_cast<int>(Place);
}

template <std::size_t... Places>
auto table(std::index_sequence<Places...> /*places*/) {
  using Function = int (*)();
  return std::array<Function, sizeof...(Places)>{&place<Places>...};
}

template <typename Signature>
std::size_t place_of(Signature* function) {
  const auto any = reinterpret_cast<void (*)()>(function);
  return static_cast<std::size_t>(reinterpret_cast<int (*)()>(any)());
}

}  // namespace

TEST_CASE("Sqlite: each function is taken from its place in SQLite's table") {
  auto routines = table(std::make_index_sequence<266>());
  routines[67] = [] { return 3'051'003; };  // libversion_number
  CHECK(sqlite3_oneiros_init(nullptr, nullptr, routines.data()) == 256);
  const oneiros::Sqlite* found = oneiros::loaded_sqlite();
  REQUIRE(found != nullptr);
  CHECK(found->libversion_number() == 3'051'003);
#if __has_include(<sqlite3ext.h>)
#define CHECK_PLACE(name) \
  CHECK(place_of(found->name) * sizeof(void*) == offsetof(sqlite3_api_routines, name))
  CHECK_PLACE(bind_blob);
  CHECK_PLACE(bind_double);
  CHECK_PLACE(bind_int64);
  CHECK_PLACE(bind_null);
  CHECK_PLACE(bind_text);
  CHECK_PLACE(clear_bindings);
  CHECK_PLACE(column_count);
  CHECK_PLACE(column_value);
  CHECK_PLACE(errmsg);
  CHECK_PLACE(extended_errcode);
  CHECK_PLACE(finalize);
  CHECK_PLACE(get_autocommit);
  CHECK_PLACE(mutex_enter);
  CHECK_PLACE(mutex_leave);
  CHECK_PLACE(reset);
  CHECK_PLACE(step);
  CHECK_PLACE(stmt_status);
  CHECK_PLACE(total_changes);
  CHECK_PLACE(value_blob);
  CHECK_PLACE(value_bytes);
  CHECK_PLACE(value_double);
  CHECK_PLACE(value_int64);
  CHECK_PLACE(value_text);
  CHECK_PLACE(value_type);
  CHECK_PLACE(db_mutex);
  CHECK_PLACE(prepare_v3);
  CHECK(offsetof(sqlite3_api_routines, libversion_number) == 67 * sizeof(void*));
#else
  MESSAGE("no sqlite3ext.h: places are not compared with SQLite's own");
#endif
}
