// The memory of adjacency lists.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "association/link.h"

namespace oneiros {

// Blocks of links, in few large pieces. What is given back is handed out again to lists of about
// that length. Not thread-safe.
class BlockPool {
 public:
  // Room for `count` links, uninitialised, at an address that stays. REQUIRES: count > 0.
  // Throws std::bad_alloc; nothing has changed then.
  [[nodiscard]] std::span<HalfLink> take(std::size_t count);
  // REQUIRES: `block` is empty, or was taken here and is read by nobody.
  void give_back(std::span<HalfLink> block) noexcept;

  // Makes what is taken next lie in one piece of memory, up to `links` links, each block counted
  // with capacity_of(its count). Throws std::bad_alloc; nothing has changed then.
  void reserve(std::size_t links);

  // How many links the block has room for that holds `count`: at most a quarter more.
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
  std::span<HalfLink> rest_;  // of the last piece
  std::size_t allocated_ = 0;
  std::array<HalfLink*, kClasses> free_{};  // the first of each class; each holds the next
};

}  // namespace oneiros
