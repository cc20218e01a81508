// Reads a snapshot file, whatever its bytes are.
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

// A snapshot that cannot be used: damaged, of another format, or of something else. The message
// says why. Nothing is lost by it: a snapshot is made of what is kept elsewhere.
class SnapshotDamaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws SnapshotDamaged unless `holds`.
inline void require_sense(bool holds, const char* rule) {
  if (!holds) {
    throw SnapshotDamaged(rule);
  }
}

// A file opened for reading. Throws std::system_error.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

// Tells a file, as it lies on this machine's disk, from any other and from what it is once somebody
// has written to it: device, inode, size, times of the last change. Throws std::system_error.
std::string file_stamp(const std::filesystem::path& path);

// A file mapped into memory, to be read.
class MappedFile {
 public:
  // Throws std::system_error if the system refuses, SnapshotDamaged if it is no plain file or
  // empty.
  MappedFile(const std::filesystem::path& path, const Descriptor& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& stamp() const { return stamp_; }

 private:
  std::span<const std::byte> bytes_;
  std::string stamp_;
};

// The sections of a file whose header, table and checksums hold; of those that
// is_checked_when_taken(), check() compares the checksum. What stands in a section is for whoever
// takes it to check. What was taken keeps the mapping alive; the reader may go before it.
class SnapshotReader {
 public:
  // Throws as MappedFile, and SnapshotDamaged where a checksum or bound does not hold. `threads`
  // share the work. A file that bears `own_stamp` is known to be one that was written here.
  SnapshotReader(const std::filesystem::path& path, std::size_t threads,
                 std::string_view own_stamp = {});

  std::uint64_t revision() const { return header_.revision; }
  std::size_t file_size() const { return file_->bytes().size(); }
  const std::string& stamp() const { return file_->stamp(); }  // of the very file that is mapped
  // What stands in its sections was right when it was written, and is what was written.
  bool is_own() const { return is_own_; }
  std::string_view text(SectionKind kind) const;
  // Throws SnapshotDamaged unless it was made with this identity.
  void require_identity(std::string_view identity) const;

  // The elements of the one section of this kind and number. Throws SnapshotDamaged if there is
  // none, or it ends within an element.
  template <typename T>
  Stored<T> take(SectionKind kind, std::uint32_t number) const {
    const std::span<const std::byte> bytes = find(kind, number);
    require_sense(bytes.size() % sizeof(T) == 0, "a section ends within an element");
    static_assert(kSectionAlignment % alignof(T) == 0);
    return {{reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)}, file_};
  }
  // Where the section lies, for who maps it once more; good as long as the reader.
  struct Place {
    int file;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint32_t checksum;
  };
  Place place_of(SectionKind kind, std::uint32_t number) const;

  // Throws SnapshotDamaged unless the section's checksum holds.
  void check(SectionKind kind, std::uint32_t number) const;

  bool has(SectionKind kind, std::uint32_t number) const {
    return entry_of(kind, number) != nullptr;
  }

 private:
  const SectionEntry* entry_of(SectionKind kind, std::uint32_t number) const;
  std::span<const std::byte> find(SectionKind kind, std::uint32_t number) const;

  Descriptor descriptor_;
  std::shared_ptr<const MappedFile> file_;
  bool is_own_ = false;
  SnapshotHeader header_{};
  std::span<const SectionEntry> table_;  // by number and kind
};

// What the file says it is made of and for, nothing else being checked but what leads there.
std::string snapshot_identity(const std::filesystem::path& path);

}  // namespace oneiros
