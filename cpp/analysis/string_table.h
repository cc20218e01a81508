// Strings numbered from 0 in order of insertion: an arena with an open-addressing hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros {

// Concurrent reads are allowed; insertion needs exclusive access. Strings never move. Look-ups take
// constant expected time. The hash is seeded per process, so texts cannot be crafted to collide.
class StringTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::size_t kHeadBytes = 8;

  // A prepared look-up. Valid for the table that made it, while the string exists.
  struct Key {
    std::string_view string;
    std::uint64_t head;  // the first eight bytes, zero-padded
    std::uint32_t tag;   // hash bits and length
  };

  // An empty table with a random seed.
  StringTable();

  // Hashes a string for look-ups. The view must stay valid as long as the key.
  Key key(std::string_view string) const;

  // The number of the string, or kAbsent.
  std::uint32_t find(const Key& key) const;
  std::uint32_t find(std::string_view string) const { return find(key(string)); }
  // Prefetches what find() reads: first the slot; once that has arrived, the string.
  void prefetch_slot(const Key& key) const { __builtin_prefetch(&slots_.data()[key.tag & mask_]); }
  void prefetch_string(const Key& key) const {
    const Slot& slot = slots_.data()[key.tag & mask_];
    if (slot.tag == key.tag && slot.offset != kAbsent) {
      __builtin_prefetch(entry(slot.offset));
    }
  }

  // The number of the string, which is added if new. Throws std::length_error beyond 4 GiB of
  // strings, without effects.
  std::uint32_t insert(std::string_view string);

  // REQUIRES: number < size(). The view is valid as long as the table.
  std::string_view at(std::uint32_t number) const { return string_of(entry(starts_[number])); }
  std::size_t size() const { return starts_.size(); }
  std::size_t resident_bytes() const;

  // The state that write() saves: taken quickly, without a concurrent insertion, and unaffected by
  // later ones.
  struct Image;
  Image image() const;
  static void write(const Image& image, SnapshotWriter& snapshot);
  // A table over strings and slots in the snapshot. Throws SnapshotDamaged unless all operations on
  // it are safe.
  static StringTable read(const SnapshotReader& snapshot);

 private:
  // Tags distinguish most strings without access to the arena.
  struct Slot {
    std::uint32_t tag;
    std::uint32_t offset;  // of the string's entry; kAbsent: free
  };

  // The arena: for each string its number (four bytes), its length as a varint, and its bytes. It
  // consists of blocks, of which a large one may occupy several block positions; each is followed
  // by kHeadBytes readable bytes.
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockBytes = std::size_t{1} << kBlockBits;

  // The entry at an offset of the arena.
  const char* entry(std::uint32_t offset) const {
    return bases_[offset >> kBlockBits] + (offset & (kBlockBytes - 1));
  }
  static std::string_view string_of(const char* entry);

  // Doubles the slots and inserts all entries again.
  void grow();
  // Inserts a slot. REQUIRES: a free one.
  void place(const Slot& slot);
  // Copies a string with its number into the arena and returns its offset.
  std::uint32_t keep(std::uint32_t number, std::string_view string);

  Stored<Slot> slots_;  // a power of two, at most two thirds used
  std::size_t mask_;
  std::uint64_t seed_;
  Stored<std::uint32_t> starts_;  // offset of each string's entry
  Stored<char> mapped_;           // the first blocks of the arena
  std::vector<const char*> bases_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t first_place_ = 0;                  // of the last block, in bases_
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t arena_bytes_ = 0;
};

struct StringTable::Image {
  std::uint64_t seed;
  std::vector<Slot> slots;
  std::vector<std::uint32_t> starts;
  std::vector<const char*> bases;  // valid as long as the table
};

}  // namespace oneiros
