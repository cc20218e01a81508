#include "association/block_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using oneiros::BlockPool;
using oneiros::HalfLink;

TEST_CASE("block pool: a block has room for what it was taken for, and little more") {
  std::size_t last = 0;
  for (std::size_t count = 1; count < 100'000; ++count) {
    const std::size_t capacity = BlockPool::capacity_of(count);
    CHECK_MESSAGE((capacity >= count && capacity >= last), count);
    CHECK_MESSAGE((count <= 8 ? capacity == count : 4 * capacity <= 5 * count), count);
    last = capacity;
  }
  CHECK(BlockPool::capacity_of(0) == 0);
}

TEST_CASE("block pool: blocks never overlap, and those given back are used again") {
  BlockPool pool;
  std::mt19937 random(3);
  std::vector<std::span<HalfLink>> held;
  std::size_t peak = 0;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 2'000; ++i) {
      const std::span<HalfLink> block = pool.take(1 + random() % 300);
      std::ranges::fill(block, HalfLink{.weight = 1.0,
                                        .last_seconds = 0.0,
                                        .created_seconds = 0.0,
                                        .standing = 0.0F,
                                        .end = static_cast<std::uint32_t>(held.size())});
      CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % 32 == 0);
      held.push_back(block);
    }
    for (std::uint32_t i = 0; i < held.size(); ++i) {
      CHECK(std::ranges::all_of(held[i], [i](const HalfLink& link) { return link.end == i; }));
      pool.give_back(held[i]);
    }
    held.clear();
    peak = round == 0 ? pool.resident_bytes() : peak;
  }
  CHECK(pool.resident_bytes() < peak + peak / 4);
}
