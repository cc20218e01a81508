// Atomic writing: a temporary file in the same directory, synced, renamed over the target, and the
// directory synced. The header is written last; a crash leaves the previous file or none.
#include "snapshot/snapshot_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "encoding/crc32c.h"

namespace oneiros {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 24U;

// Throws std::system_error with errno and the path.
[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

// Writes all bytes at an offset, retrying short and interrupted writes.
void write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset,
              const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), std::min(bytes.size(), kMostAtOnce),
                                     static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      refuse(path);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

// Makes the rename durable.
void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) {
    refuse(folder);
  }
  const bool is_synced = ::fsync(opened) == 0;
  ::close(opened);
  if (!is_synced) {
    refuse(folder);
  }
}

}  // namespace

SnapshotWriter::SnapshotWriter(std::filesystem::path path, std::uint64_t revision)
    : path_(std::move(path)) {
  header_.magic = kSnapshotMagic;
  header_.version = kSnapshotVersion;
  header_.revision = revision;
  std::string name = path_.string() + ".XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);  // mode 0600
  if (file_ < 0) {
    refuse(path_);
  }
  temporary_ = name;
  size_ = sizeof(header_);  // written last
}

SnapshotWriter::~SnapshotWriter() {
  if (file_ >= 0) {
    ::close(file_);
    ::unlink(temporary_.c_str());
  }
}

// Updates the running size; sections are appended only.
void SnapshotWriter::write(std::span<const std::byte> bytes) {
  write_at(file_, bytes, size_, temporary_);
  size_ += bytes.size();
}

void SnapshotWriter::pad(std::size_t alignment) {
  constexpr std::array<std::byte, kPageAlignment> kZeros{};
  write(std::span(kZeros).first(aligned(size_, alignment) - size_));
}

// Pads to the section's alignment, writes its parts and extends its checksum over them.
void SnapshotWriter::add_bytes(SectionKind kind, std::uint32_t number,
                               std::span<const std::byte> bytes,
                               std::span<const std::span<const std::byte>> more) {
  pad(alignment_of(kind));
  SectionEntry entry{.kind = kind,
                     .number = number,
                     .offset = size_,
                     .size = bytes.size(),
                     .checksum = crc32c(bytes),
                     .reserved = 0};
  write(bytes);
  for (const std::span<const std::byte> piece : more) {
    entry.size += piece.size();
    entry.checksum = crc32c(piece, entry.checksum);
    write(piece);
  }
  table_.push_back(entry);
}

// Writes the table and the header, syncs, renames and syncs the directory.
void SnapshotWriter::finish() {
  pad(kSectionAlignment);
  const auto table = std::as_bytes(std::span(table_));
  header_.section_count = static_cast<std::uint32_t>(table_.size());
  header_.table_offset = size_;
  header_.table_checksum = crc32c(table);
  write(table);
  header_.file_size = size_;
  const auto header = std::as_bytes(std::span(&header_, 1));
  header_.checksum = crc32c(header.first(offsetof(SnapshotHeader, checksum)));
  write_at(file_, header, 0, temporary_);
  if (::fsync(file_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    refuse(path_);
  }
  ::close(std::exchange(file_, -1));
  sync_folder_of(path_);
}

}  // namespace oneiros
