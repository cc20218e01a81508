// Changes to links, prepared while readers use the current ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "association/adjacency.h"
#include "association/fresh_blocks.h"
#include "ranking/id_table.h"

namespace oneiros {

// Collects changes to some pairs and writes the new blocks of the affected rows at once. REQUIRES:
// the adjacency does not change meanwhile. Not thread-safe.
class LinkEdit {
 public:
  // For at most `most_pairs` distinct pairs. `numbers` is scratch memory.
  LinkEdit(const Adjacency& adjacency, IdTable<std::uint64_t>& numbers, std::size_t most_pairs);

  // The link of a and b as stored at a, with all changes so far; null if there is none. Valid until
  // the next call.
  const HalfLink* find(std::uint32_t a, std::uint32_t b);
  // Creates or replaces a link. The neighbour and standing of `link` are ignored.
  void set(std::uint32_t a, std::uint32_t b, const HalfLink& link);
  void remove(std::uint32_t a, std::uint32_t b);

  // Writes the blocks of all changed rows; returns the change of the number of links. Must be the
  // last call.
  std::ptrdiff_t write(FreshBlocks& fresh);

 private:
  struct End {
    std::uint32_t row;
    std::uint32_t neighbour;
    std::uint32_t former_place = kNoPlace;  // its index in the row's block, from write() on
    bool is_gone = true;
    HalfLink link = {};
  };

  End& end_of(std::uint32_t row, std::uint32_t neighbour);
  void find_places();
  void write_row(std::span<const End> ends, FreshBlocks& fresh);

  const Adjacency& adjacency_;
  IdTable<std::uint64_t>& numbers_;
  std::vector<std::uint64_t> keys_;  // of the ends: row and neighbour
  std::vector<End> ends_;
  std::vector<std::uint32_t> replaced_;
};

}  // namespace oneiros
