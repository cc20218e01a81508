// Memory of equal size for many blocks of data, in few large pieces.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

// Hands out places of one size from slabs of about 2 MiB, which the system is asked to hold in
// large pages once there are two. A pass over many places then finds most of their addresses in the
// processor's table of pages: with pages of 4 KiB it waits for a look-up at almost every row.
// The pages of a place that is given back are the system's again, its addresses the pool's until
// its end. Thread-safe; usable in the child of a fork.
class SlabPool {
 public:
  // One place, given back at the end of its lifetime. Its bytes are indeterminate. Movable.
  class Place {
   public:
    Place(Place&& other) noexcept
        : pool_(other.pool_), data_(std::exchange(other.data_, nullptr)) {}
    ~Place() {
      if (data_ != nullptr) {
        pool_.give_back(data_);
      }
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place& operator=(Place&&) = delete;

    // Aligned to 64 bytes.
    [[nodiscard]] std::byte* data() const noexcept { return data_; }

   private:
    friend class SlabPool;
    Place(SlabPool& pool, std::byte* data) noexcept : pool_(pool), data_(data) {}

    SlabPool& pool_;
    std::byte* data_;
  };

  // REQUIRES: bytes is a positive multiple of 64.
  explicit SlabPool(std::size_t bytes);
  // REQUIRES: no place is in use.
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  [[nodiscard]] std::size_t bytes_of_place() const noexcept { return bytes_of_place_; }
  // Throws std::bad_alloc.
  [[nodiscard]] Place take();

 private:
  void give_back(std::byte* data) noexcept;
  void add_slab();

  const std::size_t bytes_of_place_;
  const std::size_t bytes_of_slab_;
  ForkSafeSharedMutex mutex_;  // guards the members below
  std::vector<std::byte*> slabs_;
  std::vector<std::byte*> free_;  // room for all places, so that giving back never allocates
};

}  // namespace oneiros
