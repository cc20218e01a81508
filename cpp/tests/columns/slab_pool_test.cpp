#include "columns/slab_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <set>
#include <thread>
#include <vector>

using oneiros::SlabPool;

namespace {

constexpr std::size_t kBytes = 96 * 1'024;

std::uintptr_t address_of(const SlabPool::Place& place) {
  return reinterpret_cast<std::uintptr_t>(place.data());
}

}  // namespace

TEST_CASE("slab pool: places do not overlap, and are aligned to lines of the cache") {
  SlabPool pool(kBytes);
  std::vector<SlabPool::Place> places;
  std::set<std::uintptr_t> addresses;
  for (unsigned i = 0; i < 100; ++i) {  // of several slabs
    const SlabPool::Place& place = places.emplace_back(pool.take());
    CHECK(address_of(place) % 64 == 0);
    addresses.insert(address_of(place));
    std::memset(place.data(), static_cast<int>(i), kBytes);
  }
  CHECK(addresses.size() == 100);
  for (unsigned i = 0; i < 100; ++i) {
    CHECK(places[i].data()[0] == static_cast<std::byte>(i));
    CHECK(places[i].data()[kBytes - 1] == static_cast<std::byte>(i));
  }
}

TEST_CASE("slab pool: a place that was given back is the next that is taken") {
  SlabPool pool(64);
  std::uintptr_t first = 0;
  {
    const SlabPool::Place place = pool.take();
    first = address_of(place);
  }
  SlabPool::Place place = pool.take();
  CHECK(address_of(place) == first);
  const SlabPool::Place moved = std::move(place);  // gives nothing back
  CHECK(address_of(moved) == first);
  CHECK(address_of(pool.take()) != first);
}

#ifdef __linux__

TEST_CASE("slab pool: the pages of a place that was given back are the system's") {
  SlabPool pool(kBytes);
  const SlabPool::Place beside = pool.take();
  std::memset(beside.data(), 7, kBytes);
  {
    const SlabPool::Place place = pool.take();
    std::memset(place.data(), 7, kBytes);
  }
  const SlabPool::Place again = pool.take();
  CHECK(std::all_of(again.data(), again.data() + kBytes,
                    [](std::byte byte) { return byte == std::byte{0}; }));
  CHECK(beside.data()[0] == std::byte{7});
  CHECK(beside.data()[kBytes - 1] == std::byte{7});
}

#endif

TEST_CASE("slab pool: taken from and given back to by several threads") {
  SlabPool pool(64);
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 1; number <= 3; ++number) {
      threads.emplace_back([&pool, number] {
        std::deque<SlabPool::Place> places;
        for (unsigned i = 0; i < 2'000; ++i) {
          places.push_back(pool.take());
          std::memset(places.back().data(), static_cast<int>(number), 64);
          if (i % 3 != 0) {
            CHECK(places.front().data()[63] == static_cast<std::byte>(number));
            places.pop_front();
          }
        }
      });
    }
  }
  static_cast<void>(pool.take());
}
