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
  // Starts to fetch what find will read.
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_.data()[key.tag & mask_]); }

  // Number of the string, new or old. Throws std::length_error past 2^32 - 2 strings or for one of
  // 2^32 bytes or more; the table is then as before.
  std::uint32_t insert(std::string_view string);

  // REQUIRES: number < size(). The view lives as long as the table.
  std::string_view at(std::uint32_t number) const {
    if (number < mapped_count_) {
      const std::uint64_t start = mapped_starts_[number];
      return {mapped_bytes_.data() + start, mapped_starts_[number + 1] - start};
    }
    const Kept& kept = strings_[number - mapped_count_];
    return {kept.data, kept.length};
  }
  std::size_t size() const { return mapped_count_ + strings_.size(); }
  std::size_t resident_bytes() const;

  // What write() puts down: taken quickly, while nobody inserts, and good whatever comes later.
  struct Image;
  Image image() const;
  static void write(const Image& image, SnapshotWriter& snapshot);
  // A table whose strings and slots lie in the snapshot. Throws SnapshotDamaged unless any string
  // can be looked up and inserted in it.
  static StringTable read(const SnapshotReader& snapshot);

 private:
  struct Kept {
    const char* data;
    std::uint32_t length;
  };
  // Short strings, most words, are told apart by head and tag, without a look at the arena.
  struct Slot {
    std::uint64_t head;
    std::uint32_t tag;
    std::uint32_t number;  // kAbsent: free
  };

  void grow();
  void place(const Slot& slot);
  const char* keep(std::string_view string);

  Stored<Slot> slots_;  // a power of two of them, at most two thirds taken
  std::size_t mask_;
  std::uint64_t seed_;
  Stored<char> mapped_bytes_;
  Stored<std::uint64_t> mapped_starts_;  // of the first strings, and the end of the last
  std::uint32_t mapped_count_ = 0;
  std::vector<Kept> strings_;                    // the others
  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
  std::size_t arena_bytes_ = 0;
};

struct StringTable::Image {
  std::uint64_t seed;
  std::vector<std::string_view> strings;  // which live as long as the table
  std::vector<Slot> slots;
};

}  // namespace oneiros
