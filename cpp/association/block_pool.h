// Allocation of adjacency lists.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "association/link.h"

namespace oneiros {

// Allocates blocks of links from large pieces of memory and recycles returned blocks for lists of
// similar length. Memory goes back to the system only with the pool. Not thread-safe.
class BlockPool {
 public:
  // Uninitialised room for `count` links, at a stable address. Throws std::bad_alloc without
  // effects. REQUIRES: count > 0.
  [[nodiscard]] std::span<HalfLink> take(std::size_t count);
  // REQUIRES: `block` is empty, or came from this pool and is no longer read.
  void give_back(std::span<HalfLink> block) noexcept;

  // Prepares one piece of memory for blocks with `links` links in total, each block counted with
  // capacity_of(its count). Throws std::bad_alloc without effects.
  void reserve(std::size_t links);

  // The capacity of a block for `count` links: at most a quarter more.
  [[nodiscard]] static std::size_t capacity_of(std::size_t count) noexcept;

  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return allocated_ * sizeof(HalfLink);
  }

 private:
  static constexpr std::size_t kClasses = 128;
  static constexpr std::size_t kFirstPiece = std::size_t{1} << 7;
  static constexpr std::size_t kLargestPiece = std::size_t{1} << 16;

  struct Free {
    std::align_val_t alignment;
    void operator()(HalfLink* piece) const noexcept { ::operator delete(piece, alignment); }
  };

  std::vector<std::unique_ptr<HalfLink, Free>> pieces_;
  std::span<HalfLink> rest_;  // free room in the last piece
  std::size_t allocated_ = 0;
  std::array<HalfLink*, kClasses>
      free_{};  // by size class: the first free block; each holds a pointer to the next
};

}  // namespace oneiros
