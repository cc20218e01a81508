// Reads snapshot files, whatever their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "snapshot/snapshot_format.h"
#include "snapshot/stored.h"

namespace oneiros {

// A snapshot that cannot be used: damaged, of another format, or of another store. The message says
// why. No data is lost: a snapshot is derived from the store and can be built again.
class SnapshotDamaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws SnapshotDamaged with this message unless `holds`.
inline void require_sense(bool holds, const char* rule) {
  if (!holds) {
    throw SnapshotDamaged(rule);
  }
}

// A file descriptor open for reading. Throws std::system_error.
class Descriptor {
 public:
  // Opens the file.
  explicit Descriptor(const std::filesystem::path& path);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

// Identifies a file in its current state on this machine: device, inode, size and times of change.
// Any write changes it. Throws std::system_error.
std::string file_stamp(const std::filesystem::path& path);

// A file mapped read-only into memory.
class MappedFile {
 public:
  // Throws std::system_error if the system refuses, SnapshotDamaged if it is not a regular file or
  // is empty.
  MappedFile(const std::filesystem::path& path, const Descriptor& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // The whole file. Valid as long as the object.
  std::span<const std::byte> bytes() const { return bytes_; }
  // The file_stamp() of the mapped file.
  const std::string& stamp() const { return stamp_; }

 private:
  std::span<const std::byte> bytes_;
  std::string stamp_;
};

// The sections of a file whose header, table and checksums are valid. Checksums of sections that
// is_checked_when_taken() are compared by check(). The content of a section must be validated by
// the code that takes it. Arrays that were taken keep the mapping alive, also beyond the reader.
// Immutable; any number of threads may take sections.
class SnapshotReader {
 public:
  // Throws as MappedFile, and SnapshotDamaged for a wrong checksum or bound. Checksums are computed
  // by `threads` threads. A file with the stamp `own_stamp` is known to have been written here.
  SnapshotReader(const std::filesystem::path& path, std::size_t threads,
                 std::string_view own_stamp = {});
  // The revision given to the writer.

  std::uint64_t revision() const { return header_.revision; }
  std::size_t file_size() const { return file_->bytes().size(); }
  const std::string& stamp() const { return file_->stamp(); }  // of the mapped file
  // True if the file is known to be our own, unchanged: its content needs no validation.
  bool is_own() const { return is_own_; }
  // A section as text.
  std::string_view text(SectionKind kind) const;
  // Throws SnapshotDamaged unless it was written with this identity.
  void require_identity(std::string_view identity) const;

  // The elements of a section, mapped. Throws SnapshotDamaged if it does not exist or its size is
  // not a multiple of the element's.
  template <typename T>
  Stored<T> take(SectionKind kind, std::uint32_t number) const {
    const std::span<const std::byte> bytes = find(kind, number);
    require_sense(bytes.size() % sizeof(T) == 0, "a section ends within an element");
    static_assert(kSectionAlignment % alignof(T) == 0);
    return {{reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)}, file_};
  }
  // The position of a section in the file, for another mapping. The descriptor is valid as long as
  // the reader.
  struct Place {
    int file;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint32_t checksum;
  };
  Place place_of(SectionKind kind, std::uint32_t number) const;

  // Throws SnapshotDamaged unless the section's checksum, computed by `threads` threads, is right.
  void check(SectionKind kind, std::uint32_t number, std::size_t threads) const;

  // True if the section exists.
  bool has(SectionKind kind, std::uint32_t number) const {
    return entry_of(kind, number) != nullptr;
  }

 private:
  // Binary search in the table; null if there is no such section.
  const SectionEntry* entry_of(SectionKind kind, std::uint32_t number) const;
  // The bytes of a section; throws SnapshotDamaged if there is none.
  std::span<const std::byte> find(SectionKind kind, std::uint32_t number) const;

  Descriptor descriptor_;
  std::shared_ptr<const MappedFile> file_;
  bool is_own_ = false;
  SnapshotHeader header_{};
  std::span<const SectionEntry> table_;  // ordered by number and kind
};

// The identity stored in a file. Verifies only the header and table.
std::string snapshot_identity(const std::filesystem::path& path);

}  // namespace oneiros
