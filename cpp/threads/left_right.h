// A value that many threads read without waiting while one thread changes it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace oneiros {

// Two copies: readers use one while the writer changes the other, redirects new readers to it,
// waits until the first has no readers, and changes that too. After Ramalhete and Correia,
// "Left-Right: A Concurrency Control Technique with Wait-Free Population Oblivious Reads" (2015),
// with one counter per copy: a reader that meets a switch retries, so reads are lock-free. Reads
// should be short, since the writer waits for them. Costs twice the memory of the value.
template <typename Value>
class LeftRight {
 public:
  LeftRight() = default;
  explicit LeftRight(const Value& value) : sides_{Side{value}, Side{value}} {}
  LeftRight(const LeftRight&) = delete;
  LeftRight& operator=(const LeftRight&) = delete;

  // Returns what read(value) returns. Takes no lock. REQUIRES: `read` does not write.
  template <typename Read>
  auto read(Read read) const {
    const Visit visit(*this);
    return read(visit.value());
  }

  // Calls change(value) once for each copy; readers see all of it or nothing. If a call throws, it
  // must leave its copy unchanged, and readers then see no change. REQUIRES: one writer at a time.
  template <typename Change>
  void write(Change change) {
    const std::uint32_t former = active_.load(std::memory_order_relaxed);
    change(sides_[1 - former].value);
    active_.store(1 - former);
    while (sides_[former].readers.load() != 0) {
      std::this_thread::yield();
    }
    change(sides_[former].value);
  }

  // The result of the last write. REQUIRES: no concurrent writer.
  const Value& latest() const { return sides_[active_.load(std::memory_order_relaxed)].value; }

  // For the child of a fork, in which the readers of the moment do not exist.
  void forget_readers() noexcept {
    for (Side& side : sides_) {
      side.readers.store(0);
    }
  }

 private:
  static constexpr std::size_t kCacheLine = 64;

  struct Side {
    Side() = default;
    explicit Side(const Value& initial) : value(initial) {}

    alignas(kCacheLine) mutable std::atomic<std::uint64_t> readers = 0;
    alignas(kCacheLine) Value value{};
  };

  class Visit {
   public:
    explicit Visit(const LeftRight& owner) {
      std::uint32_t number = owner.active_.load();
      while (true) {
        side_ = &owner.sides_[number];
        side_->readers.fetch_add(1);
        // Only now may it be read: a writer that switches away sees this reader's count.
        const std::uint32_t active = owner.active_.load();
        if (active == number) {
          return;
        }
        side_->readers.fetch_sub(1);
        number = active;
      }
    }
    ~Visit() { side_->readers.fetch_sub(1); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    const Value& value() const { return side_->value; }

   private:
    const Side* side_;
  };

  std::array<Side, 2> sides_;
  alignas(kCacheLine) std::atomic<std::uint32_t> active_ = 0;
};

}  // namespace oneiros
