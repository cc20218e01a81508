// Snapshot files as the fuzzer changes them: section by section, with every checksum right again.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "tests/snapshot/damage.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace oneiros::fuzz {

// A file in memory with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : number_(::memfd_create("snapshot", 0)) {
    write(bytes);
  }
  ~MemoryFile() { ::close(number_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Takes other bytes. REQUIRES: the file is mapped nowhere.
  void write(std::span<const std::byte> bytes) {
    const auto written = ::pwrite(number_, bytes.data(), bytes.size(), 0);
    require(written == static_cast<::ssize_t>(bytes.size()), "a file in memory");
    require(::ftruncate(number_, written) == 0, "a file in memory has a size");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

// The sections of a file, if its header and table can be followed.
struct Parts {
  bool are_whole = false;
  SnapshotHeader header{};
  std::vector<SectionEntry> table;
  std::vector<testing::FileBytes> sections;
};

inline Parts parts_of(std::span<const std::byte> bytes) {
  Parts parts;
  if (bytes.size() < sizeof(SnapshotHeader)) {
    return parts;
  }
  const testing::FileBytes file(bytes.begin(), bytes.end());
  parts.header = testing::header_of(file);
  const std::uint64_t offset = parts.header.table_offset;
  const std::uint64_t count = parts.header.section_count;
  if (count == 0 || offset > file.size() || count > (file.size() - offset) / sizeof(SectionEntry)) {
    return parts;
  }
  parts.table = testing::table_of(file);
  for (const SectionEntry& entry : parts.table) {
    if (entry.offset > file.size() || entry.size > file.size() - entry.offset) {
      return parts;
    }
    const auto start = file.begin() + static_cast<std::ptrdiff_t>(entry.offset);
    parts.sections.emplace_back(start, start + static_cast<std::ptrdiff_t>(entry.size));
  }
  parts.are_whole = true;
  return parts;
}

// Changes one section, or the table. Other inputs are changed as bytes.
inline std::size_t mutate_snapshot(std::uint8_t* data, std::size_t size, std::size_t most,
                                   unsigned seed) {
  std::minstd_rand random(seed);
  Parts parts = parts_of(bytes_of(data, size));
  if (!parts.are_whole || random() % 64 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const std::size_t chosen = random() % parts.sections.size();
  switch (random() % 12) {
    case 0:
      parts.sections[chosen] = parts.sections[random() % parts.sections.size()];
      break;
    case 1: {
      auto* const fields = reinterpret_cast<std::uint8_t*>(&parts.table[chosen]);
      LLVMFuzzerMutate(fields, sizeof(SectionKind) + sizeof(std::uint32_t), 8);
      break;
    }
    case 2:
      parts.sections.erase(parts.sections.begin() + static_cast<std::ptrdiff_t>(chosen));
      parts.table.erase(parts.table.begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    default: {
      constexpr std::size_t kRoom = 64;
      testing::FileBytes& section = parts.sections[chosen];
      const std::size_t former = section.size();
      section.resize(former + kRoom);
      auto* const bytes = reinterpret_cast<std::uint8_t*>(section.data());
      section.resize(LLVMFuzzerMutate(bytes, former, former + kRoom));
      break;
    }
  }
  const testing::FileBytes file = testing::assembled(parts.header, parts.table, parts.sections);
  if (file.size() > most) {
    return LLVMFuzzerMutate(data, size, most);
  }
  std::memcpy(data, file.data(), file.size());
  return file.size();
}

}  // namespace oneiros::fuzz
