// Strings numbered from 0 in order of insertion: an arena under an open-addressing hash table.
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

// Reads may run beside reads; insertion needs the table for itself. Strings never move.
class StringTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::size_t kHeadBytes = 8;

  // What a string is looked up by; of use with the table that made it, while the string lives.
  struct Key {
    std::string_view string;
    std::uint64_t head;  // the first eight bytes, zeros where there are fewer
    std::uint32_t tag;   // hash below, then length
  };

  StringTable();

  Key key(std::string_view string) const;

  // Number of the string, or kAbsent.
  std::uint32_t find(const Key& key) const;
  std::uint32_t find(std::string_view string) const { return find(key(string)); }
  // Starts to fetch what find will read: first the one, and when that is there, the other.
  void prefetch_slot(const Key& key) const { __builtin_prefetch(&slots_.data()[key.tag & mask_]); }
  void prefetch_string(const Key& key) const {
    const Slot& slot = slots_.data()[key.tag & mask_];
    if (slot.tag == key.tag && slot.offset != kAbsent) {
      __builtin_prefetch(entry(slot.offset));
    }
  }

  // Number of the string, new or old. Throws std::length_error past 4 GiB of strings; the table is
  // then as before.
  std::uint32_t insert(std::string_view string);

  // REQUIRES: number < size(). The view lives as long as the table.
  std::string_view at(std::uint32_t number) const { return string_of(entry(starts_[number])); }
  std::size_t size() const { return starts_.size(); }
  std::size_t resident_bytes() const;

  // What write() puts down: taken quickly, while nobody inserts, and good whatever comes later.
  struct Image;
  Image image() const;
  static void write(const Image& image, SnapshotWriter& snapshot);
  // A table whose strings and slots lie in the snapshot. Throws SnapshotDamaged unless any string
  // can be looked up and inserted in it.
  static StringTable read(const SnapshotReader& snapshot);

 private:
  // Tags tell most strings apart without a look at the arena.
  struct Slot {
    std::uint32_t tag;
    std::uint32_t offset;  // of the string's entry; kAbsent: free
  };

  // The arena: for each string its number, four bytes, its length as a varint, and its bytes. It
  // lies in blocks, of which one may go on into the next ones' place; behind each are kHeadBytes
  // more that can be read.
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockBytes = std::size_t{1} << kBlockBits;

  const char* entry(std::uint32_t offset) const {
    return bases_[offset >> kBlockBits] + (offset & (kBlockBytes - 1));
  }
  static std::string_view string_of(const char* entry);

  void grow();
  void place(const Slot& slot);
  std::uint32_t keep(std::uint32_t number, std::string_view string);

  Stored<Slot> slots_;  // a power of two of them, at most two thirds taken
  std::size_t mask_;
  std::uint64_t seed_;
  Stored<std::uint32_t> starts_;  // of each string's entry
  Stored<char> mapped_;           // the arena's first blocks
  std::vector<const char*> bases_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t first_place_ = 0;                  // of the last block, among the bases
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t arena_bytes_ = 0;
};

struct StringTable::Image {
  std::uint64_t seed;
  std::vector<Slot> slots;
  std::vector<std::uint32_t> starts;
  std::vector<const char*> bases;  // of what lives as long as the table
};

}  // namespace oneiros
