// Blocks of links that are not visible to readers yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "association/block_pool.h"

namespace oneiros {

// New blocks for some rows. The destructor returns the blocks it holds to the pool: the new ones if
// they were never published, otherwise the former ones they were exchanged for. Not thread-safe.
class FreshBlocks {
 public:
  struct Block {
    std::uint32_t row;
    std::span<HalfLink> links;
    std::span<HalfLink> former = {};
  };

  explicit FreshBlocks(BlockPool& pool) : pool_(&pool) {}
  ~FreshBlocks() {
    for (const Block& block : blocks_) {
      pool_->give_back(block.links);
    }
  }
  FreshBlocks(const FreshBlocks&) = delete;
  FreshBlocks& operator=(const FreshBlocks&) = delete;

  // Room for a row's links, to be filled by the caller in link order. Empty for count 0.
  std::span<HalfLink> add(std::uint32_t row, std::size_t count) {
    blocks_.push_back({row, {}});
    if (count > 0) {
      blocks_.back().links = pool_->take(count);
    }
    return blocks_.back().links;
  }
  [[nodiscard]] std::span<Block> blocks() noexcept { return blocks_; }

 private:
  BlockPool* pool_;
  std::vector<Block> blocks_;
};

}  // namespace oneiros
