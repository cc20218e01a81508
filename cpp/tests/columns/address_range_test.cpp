#include "columns/address_range.h"

#include <doctest/doctest.h>

#include <new>
#include <utility>

#include "columns/columns.h"

using oneiros::AddressRange;

TEST_CASE("address range: grows in place and starts as zeros") {
  AddressRange range(std::size_t{1} << 30);
  range.open(10);
  auto* const bytes = static_cast<unsigned char*>(range.data());
  bytes[9] = 7;
  range.open(std::size_t{1} << 20);
  CHECK(range.data() == bytes);
  CHECK(bytes[9] == 7);
  CHECK(bytes[(std::size_t{1} << 20) - 1] == 0);
  range.open(1);  // never shrinks
  bytes[(std::size_t{1} << 20) - 1] = 1;
}

TEST_CASE("address range: moves with its address") {
  AddressRange range(1 << 16);
  range.open(1);
  void* const data = range.data();
  AddressRange other = std::move(range);
  CHECK(other.data() == data);
  AddressRange third;
  third = std::move(other);
  CHECK(third.data() == data);
  *static_cast<char*>(third.data()) = 1;
}

TEST_CASE("address range: what the system cannot reserve is refused") {
  CHECK_THROWS_AS(AddressRange(std::size_t{1} << 60), std::bad_alloc);
}

TEST_CASE("columns: take less where the system refuses much") {
  const oneiros::Columns columns(std::size_t{1} << 45);  // 2^45 rows of 8 bytes: more than there is
  CHECK(columns.capacity() >= oneiros::Columns::kFewestRows);
  CHECK(columns.capacity() < std::size_t{1} << 45);
}
