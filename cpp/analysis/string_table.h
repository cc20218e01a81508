// Strings numbered from 0 in order of insertion: an arena under an open-addressing hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace oneiros {

// Reads may run beside reads; insertion needs the table for itself. Strings never move.
class StringTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  StringTable();

  static std::uint64_t hash(std::string_view string);

  // Number of the string, or kAbsent.
  std::uint32_t find(std::string_view string) const { return find(string, hash(string)); }
  std::uint32_t find(std::string_view string, std::uint64_t hash) const;
  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&slots_[static_cast<std::uint32_t>(hash) & mask_]);
  }

  // Number of the string, new or old. Throws std::length_error past 2^32 - 2 strings or for one of
  // 2^32 bytes or more; the table is then as before.
  std::uint32_t insert(std::string_view string);

  // REQUIRES: number < size(). The view lives as long as the table.
  std::string_view at(std::uint32_t number) const {
    return {strings_[number].data, strings_[number].length};
  }
  std::size_t size() const { return strings_.size(); }
  std::size_t resident_bytes() const;

 private:
  struct Stored {
    const char* data;
    std::uint32_t length;
  };
  struct Slot {
    std::uint32_t tag;     // lower half of the hash
    std::uint32_t number;  // kAbsent: free
  };

  void grow();
  void place(Slot slot);
  const char* keep(std::string_view string);

  std::vector<Slot> slots_;  // a power of two of them, at most half taken
  std::size_t mask_;
  std::vector<Stored> strings_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
  std::size_t arena_bytes_ = 0;
};

}  // namespace oneiros
