#include "threads/left_right.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace {

using oneiros::LeftRight;

// Many words, so that a reader amid a change would see them differ.
struct Words {
  std::array<std::uint64_t, 64> all{};
  std::shared_ptr<const std::uint64_t> shared;

  bool is_whole() const {
    for (const std::uint64_t word : all) {
      if (word != all.front()) {
        return false;
      }
    }
    return all.front() == 0 || *shared == all.front();
  }
};

}  // namespace

TEST_CASE("LeftRight: readers see the value before a change or after it, and time goes one way") {
  LeftRight<Words> words;
  constexpr std::uint64_t kWrites = 20'000;
  std::atomic<std::uint64_t> written = 0;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        std::uint64_t last = 0;
        while (last != kWrites) {
          const std::uint64_t least = written.load();
          const Words seen = words.read([](const Words& now) { return now; });
          wrong_count +=
              seen.is_whole() && seen.all.front() >= last && seen.all.front() >= least ? 0U : 1U;
          last = seen.all.front();
        }
      });
    }
    for (std::uint64_t write = 1; write <= kWrites; ++write) {
      const auto shared = std::make_shared<const std::uint64_t>(write);
      words.write([&](Words& both) noexcept {
        for (std::uint64_t& word : both.all) {
          ++word;
        }
        both.shared = shared;
      });
      written = write;
    }
  }
  CHECK(wrong_count == 0);
  CHECK(words.latest().all.back() == kWrites);
}

TEST_CASE("LeftRight: what a failed change left as it was, stays whole") {
  for (const int failing_call : {1, 2}) {
    LeftRight<std::uint64_t> value(7);
    int calls = 0;
    CHECK_THROWS_AS(value.write([&](std::uint64_t&) {
      if (++calls == failing_call) {
        throw std::bad_alloc();
      }
    }),
                    std::bad_alloc);
    CHECK(value.read([](std::uint64_t now) { return now; }) == 7);
    value.write([](std::uint64_t& now) noexcept { ++now; });
    CHECK(value.read([](std::uint64_t now) { return now; }) == 8);
    value.write([](std::uint64_t& now) noexcept { ++now; });
    CHECK(value.read([](std::uint64_t now) { return now; }) == 9);
  }
}

TEST_CASE("LeftRight: a reader amid its reading keeps no other reader, and its copy stays still") {
  LeftRight<std::uint64_t> value(1);
  std::atomic<bool> may_leave = false;
  std::atomic<bool> is_in = false;
  std::atomic<bool> has_written = false;
  std::jthread slow([&] {
    value.read([&](const std::uint64_t& now) {
      is_in = true;
      is_in.notify_all();
      may_leave.wait(false);
      CHECK(now == 1);
      return now;
    });
  });
  is_in.wait(false);
  std::jthread writer([&] {
    value.write([](std::uint64_t& now) noexcept { now = 2; });
    has_written = true;
  });
  while (value.read([](std::uint64_t now) { return now; }) != 2) {
    std::this_thread::yield();
  }
  CHECK_FALSE(has_written);  // it waits for the slow one
  may_leave = true;
  may_leave.notify_all();
  writer.join();
  CHECK(value.latest() == 2);
}
