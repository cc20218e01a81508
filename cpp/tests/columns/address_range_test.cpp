#include "columns/address_range.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <utility>
#include <vector>

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

// ThreadSanitizer keeps these addresses for itself; there the whole is reserved.
#ifndef __SANITIZE_THREAD__

namespace {

// The size of the process's address space.
std::size_t process_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("address range: a growing one takes addresses as it grows, and never those of another") {
  const std::size_t most = std::size_t{1} << 30;
  std::vector<AddressRange> ranges;
  const std::size_t before = process_bytes();
  for (int i = 0; i < 500; ++i) {
    ranges.push_back(AddressRange::growing(most));
    ranges.back().open(1'000);
    *static_cast<int*>(ranges.back().data()) = i;
  }
  CHECK(process_bytes() - before < most);
  for (AddressRange& range : ranges) {
    void* const data = range.data();
    range.open(std::size_t{1} << 22);
    CHECK(range.data() == data);
  }
  for (int i = 0; i < 500; ++i) {
    CHECK(*static_cast<int*>(ranges[static_cast<std::size_t>(i)].data()) == i);
  }
  ranges[7].open(most);
  static_cast<char*>(ranges[7].data())[most - 1] = 1;
  ranges.clear();
  CHECK(process_bytes() - before < most);
}

#endif

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
