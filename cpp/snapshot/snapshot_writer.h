// Writes snapshot files atomically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "snapshot/snapshot_format.h"

namespace oneiros {

// A section to be written. Refers to memory of the caller.
struct SnapshotSection {
  SectionKind kind;
  std::span<const std::byte> bytes;
  std::vector<std::span<const std::byte>> more = {};  // parts that follow `bytes`
};

// Writes to a temporary file in the same directory, readable only by its owner, until finish()
// renames it. Every method throws std::system_error if the system refuses; an existing file at
// `path` is then unchanged. Not thread-safe.
class SnapshotWriter {
 public:
  // Creates the temporary file. `revision` is stored for the caller.
  SnapshotWriter(std::filesystem::path path, std::uint64_t revision);
  ~SnapshotWriter();  // without finish(): removes the temporary file
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Adds a section. REQUIRES: ascending order of number and kind, each once.
  template <typename T>
  void add(SectionKind kind, std::uint32_t number, std::span<const T> elements) {
    add_bytes(kind, number, std::as_bytes(elements));
  }
  // A section from one or several parts, written one after the other.
  void add_bytes(SectionKind kind, std::uint32_t number, std::span<const std::byte> bytes,
                 std::span<const std::span<const std::byte>> more = {});

  // Flushes the file to disk and moves it to its path.
  void finish();

 private:
  // Appends bytes at the current end.
  void write(std::span<const std::byte> bytes);
  // Appends zeros up to a multiple of `alignment`.
  void pad(std::size_t alignment);

  const std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  SnapshotHeader header_{};
  std::vector<SectionEntry> table_;
};

}  // namespace oneiros
