// Writes a snapshot file: whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "snapshot/snapshot_format.h"

namespace oneiros {

// A section to be: the bytes are somebody else's.
struct SnapshotSection {
  SectionKind kind;
  std::span<const std::byte> bytes;
  std::vector<std::span<const std::byte>> more = {};  // that follow them
};

// Until finish() all goes to a file beside the one to be, readable by its owner only. Every method
// throws std::system_error when the system refuses; whatever stood there before stands then still.
class SnapshotWriter {
 public:
  SnapshotWriter(std::filesystem::path path, std::uint64_t revision);
  ~SnapshotWriter();  // without finish(): leaves nothing
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // Sections come in the order of number and kind, each once.
  template <typename T>
  void add(SectionKind kind, std::uint32_t number, std::span<const T> elements) {
    add_bytes(kind, number, std::as_bytes(elements));
  }
  void add_bytes(SectionKind kind, std::uint32_t number, std::span<const std::byte> bytes,
                 std::span<const std::span<const std::byte>> more = {});

  // Puts the file, safe on the disk, in its place.
  void finish();

 private:
  void write(std::span<const std::byte> bytes);
  void pad(std::size_t alignment);

  const std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  SnapshotHeader header_{};
  std::vector<SectionEntry> table_;
};

}  // namespace oneiros
