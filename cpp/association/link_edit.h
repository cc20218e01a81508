// Changes to some links, made aside while readers see the former ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "association/adjacency.h"
#include "association/fresh_blocks.h"
#include "ranking/id_table.h"

namespace oneiros {

// REQUIRES: the adjacency does not change meanwhile.
class LinkEdit {
 public:
  // For at most `most_pairs` different pairs. `numbers` is memory to work with.
  LinkEdit(const Adjacency& adjacency, IdTable<std::uint64_t>& numbers, std::size_t most_pairs);

  // The link of a and b as a sees it, after all changes so far; null if there is none.
  // Valid until the next call.
  const HalfLink* find(std::uint32_t a, std::uint32_t b);
  // Makes it, or makes it another. What `link` says of its neighbour and standing does not matter.
  void set(std::uint32_t a, std::uint32_t b, const HalfLink& link);
  void remove(std::uint32_t a, std::uint32_t b);

  // Writes the blocks of all rows whose links have changed; returns how many links are there more.
  // No call may follow.
  std::ptrdiff_t write(FreshBlocks& fresh);

 private:
  struct End {
    std::uint32_t row;
    std::uint32_t former_place;  // in its block
    bool is_gone;
    HalfLink link;
  };

  End& end_of(std::uint32_t row, std::uint32_t neighbour);
  void write_row(std::span<const End> ends, FreshBlocks& fresh);

  const Adjacency& adjacency_;
  IdTable<std::uint64_t>& numbers_;
  std::vector<std::uint64_t> keys_;  // of the ends
  std::vector<End> ends_;
  std::vector<std::uint32_t> replaced_;
};

}  // namespace oneiros
