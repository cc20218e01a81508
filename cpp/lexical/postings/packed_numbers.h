// Arrays of unsigned integers, bit-packed in blocks, with random access.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lexical/postings/gallop_search.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros::lexical {

// Blocks of kBlock numbers are stored as differences from the block's minimum, all of a block in
// the same number of bits (frame of reference; Lemire & Boytsov 2015). Reading a number takes
// constant time: two loads and a shift. Immutable once built; any number of threads may read.
class PackedNumbers {
 public:
  static constexpr std::size_t kBlock = 64;
  static constexpr unsigned kMostBits = 32;

  PackedNumbers() = default;  // empty
  PackedNumbers(PackedNumbers&&) =
      default;  // a moved-from object may only be assigned or destroyed
  PackedNumbers& operator=(PackedNumbers&&) = default;
  ~PackedNumbers() = default;
  // Packs number_at(0), number_at(1), ... number_at(size - 1); called in this order.
  template <typename NumberAt>
  static PackedNumbers of(std::size_t size, NumberAt number_at);

  std::size_t size() const { return size_; }
  // REQUIRES: i < size().
  std::uint32_t operator[](std::size_t i) const { return open(i / kBlock)[i % kBlock]; }
  // Prefetches the number into the cache. Any i is allowed.
  void prefetch(std::size_t i) const {
    if (i < size_) {
      const OpenBlock block = open(i / kBlock);
      __builtin_prefetch(block.bytes + i % kBlock * block.bits / 8);
    }
  }
  // REQUIRES: block < block_count().
  std::uint32_t least_of(std::size_t block) const { return first_block_[block].least; }

  // The first i for which is_there(i, number) holds, or size(). Logarithmic in the distance from
  // `guess`. REQUIRES: the numbers do not decrease; is_there, once true, stays true.
  template <typename IsThere>
  std::size_t gallop_search(std::size_t guess, IsThere is_there) const;

  // The first place in [begin, end) whose number is >= `least`, or `end`. Logarithmic in the
  // distance from `guess`. REQUIRES: numbers ascend within [begin, end).
  std::size_t first_from(std::uint32_t least, std::size_t begin, std::size_t end,
                         std::size_t guess) const;

  std::size_t resident_bytes() const { return blocks_.resident_bytes() + words_.resident_bytes(); }

  // Writes and reads two sections: `kind` and the following one. Numbers that were read must pass
  // check() before any other use.
  void write(SnapshotWriter& snapshot, SectionKind kind, std::uint32_t number) const;
  static PackedNumbers read(const SnapshotReader& snapshot, SectionKind kind, std::uint32_t number);
  // Throws SnapshotDamaged unless there are `size` numbers and all can be read within bounds.
  void check(std::size_t size) const;

 private:
  static constexpr std::size_t kWordBits = 64;
  static_assert(kBlock == kWordBits);  // so a block of n bits a number has n words

  // The directory entry of a block.
  struct Block {
    std::uint32_t least;
    std::uint32_t start;  // its first word; it ends where the next block starts
  };

  // A block, decoded for reading. A number is loaded as eight bytes, at any byte offset.
  struct OpenBlock {
    const std::uint8_t* bytes;
    std::size_t bits;  // per number
    std::uint32_t least;

    std::uint32_t operator[](std::size_t place) const {
      const std::size_t bit = place * bits;
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + bit / 8, sizeof(word));
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      return least + static_cast<std::uint32_t>((word >> (bit % 8)) & mask);
    }
  };

  OpenBlock open(std::size_t block) const {
    const Block* const at = first_block_ + block;
    return {.bytes = first_byte_ + std::size_t{at[0].start} * sizeof(std::uint64_t),
            .bits = at[1].start - at[0].start,
            .least = at[0].least};
  }
  // Appends one block of the packed form.
  std::size_t block_count() const { return (size_ + kBlock - 1) / kBlock; }
  void append_block(std::span<const std::uint32_t> numbers);
  void finish(std::size_t size);
  void settle();  // sets the members derived from blocks_ and words_

  Stored<Block> blocks_;         // and a sentinel: the number count, and the end of the last block
  Stored<std::uint64_t> words_;  // and one word of padding, since eight bytes are loaded
  const Block* first_block_ = nullptr;
  const std::uint8_t* first_byte_ = nullptr;
  std::size_t size_ = 0;
};

template <typename IsThere>
std::size_t PackedNumbers::gallop_search(std::size_t guess, IsThere is_there) const {
  // The first block whose minimum satisfies is_there; the result may lie in the block before.
  const std::size_t block =
      lexical::gallop_search(0, block_count(), guess / kBlock + 1,
                             [&](std::size_t i) { return is_there(i * kBlock, least_of(i)); });
  if (block == 0) {
    return 0;
  }
  const std::size_t begin = (block - 1) * kBlock;
  return lexical::gallop_search(begin, std::min(size(), begin + kBlock), guess,
                                [&](std::size_t i) { return is_there(i, (*this)[i]); });
}

template <typename NumberAt>
PackedNumbers PackedNumbers::of(std::size_t size, NumberAt number_at) {
  PackedNumbers packed;
  packed.blocks_.own().reserve(size / kBlock + 2);
  std::array<std::uint32_t, kBlock> block{};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < size; ++i) {
    block[taken++] = number_at(i);
    if (taken == kBlock || i + 1 == size) {
      packed.append_block(std::span(block).first(taken));
      taken = 0;
    }
  }
  packed.finish(size);
  return packed;
}

}  // namespace oneiros::lexical
