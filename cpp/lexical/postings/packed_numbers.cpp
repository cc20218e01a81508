// Bit packing of blocks, and searches in them. Blocks are searched by their minima first, then one
// block is searched without branches.
#include "lexical/postings/packed_numbers.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace oneiros::lexical {

namespace {
SectionKind behind(SectionKind kind) { return kind_at(kind, 1); }
}  // namespace

std::size_t PackedNumbers::first_from(std::uint32_t least, std::size_t begin, std::size_t end,
                                      std::size_t guess) const {
  if (begin == end) {
    return end;
  }
  // The first block at or after `begin`'s that starts at or above `least`; the result may lie in
  // the block before. A block's minimum is its first number only if the whole block lies before
  // `end`, where numbers ascend.
  const std::size_t block = lexical::gallop_search(
      begin / kBlock + 1, (end - 1) / kBlock + 1, guess / kBlock + 1, [&](std::size_t i) {
        return ((i + 1) * kBlock <= end ? least_of(i) : (*this)[i * kBlock]) >= least;
      });
  const OpenBlock last = open(block - 1);
  const std::size_t first = (block - 1) * kBlock;
  std::size_t low = std::max(begin, first) - first;
  std::size_t count = std::min(end - first, kBlock) - low;
  // A branch-free binary search: the position within a block is unpredictable.
  for (; count > 1; count -= count / 2) {
    low += last[low + count / 2 - 1] < least ? count / 2 : 0;
  }
  return first + low + (last[low] < least ? 1U : 0U);
}

void PackedNumbers::append_block(std::span<const std::uint32_t> numbers) {
  const auto [least, most] = std::ranges::minmax(numbers);
  const auto bits = static_cast<unsigned>(std::bit_width(most - least));
  std::vector<std::uint64_t>& words = words_.own();
  const std::size_t start = words.size();
  if (start > std::numeric_limits<std::uint32_t>::max() - 2 * kMostBits) {
    throw std::length_error("too many numbers for one segment");
  }
  blocks_.own().push_back({.least = least, .start = static_cast<std::uint32_t>(start)});
  words.resize(start + bits);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t difference = numbers[i] - least;
    const std::size_t bit = i * bits;
    const std::size_t within = bit % kWordBits;
    if (bits != 0) {
      words[start + bit / kWordBits] |= difference << within;
    }
    if (within + bits > kWordBits) {
      words[start + bit / kWordBits + 1] |= difference >> (kWordBits - within);
    }
  }
}

void PackedNumbers::finish(std::size_t size) {
  std::vector<std::uint64_t>& words = words_.own();
  blocks_.own().push_back({.least = static_cast<std::uint32_t>(size),
                           .start = static_cast<std::uint32_t>(words.size())});
  words.push_back(0);
  words.shrink_to_fit();
  blocks_.own().shrink_to_fit();
  settle();
}

void PackedNumbers::settle() {
  const std::span<const Block> blocks = blocks_.elements();
  first_block_ = blocks.data();
  first_byte_ = reinterpret_cast<const std::uint8_t*>(words_.data());
  size_ = blocks.empty() ? 0 : blocks.back().least;
}

void PackedNumbers::write(SnapshotWriter& snapshot, SectionKind kind, std::uint32_t number) const {
  snapshot.add(kind, number, blocks_.elements());
  snapshot.add(behind(kind), number, words_.elements());
}

PackedNumbers PackedNumbers::read(const SnapshotReader& snapshot, SectionKind kind,
                                  std::uint32_t number) {
  PackedNumbers packed;
  packed.blocks_ = snapshot.take<Block>(kind, number);
  packed.words_ = snapshot.take<std::uint64_t>(behind(kind), number);
  packed.settle();
  return packed;
}

void PackedNumbers::check(std::size_t size) const {
  const std::span<const Block> blocks = blocks_.elements();
  require_sense(blocks.size() == (size + kBlock - 1) / kBlock + 1 && blocks.back().least == size,
                "not as many numbers as there should be");
  require_sense(blocks.front().start == 0 && words_.size() == std::size_t{blocks.back().start} + 1,
                "numbers do not fill their words");
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    require_sense(blocks[i].start <= blocks[i + 1].start &&
                      blocks[i + 1].start - blocks[i].start <= kMostBits,
                  "numbers of a width that none has");
  }
}

}  // namespace oneiros::lexical
