#include "snapshot/snapshot_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <cstring>
#include <system_error>
#include <utility>

#include "encoding/crc32c.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

#ifdef MAP_POPULATE
constexpr int kMapping = MAP_PRIVATE | MAP_POPULATE;  // all of it is about to be read
#else
constexpr int kMapping = MAP_PRIVATE;
#endif

// Closes what it was given.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) {
      throw std::system_error(errno, std::generic_category(), path.string());
    }
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

std::pair<std::uint32_t, SectionKind> key_of(const SectionEntry& entry) {
  return {entry.number, entry.kind};
}

SnapshotHeader read_header(std::span<const std::byte> file) {
  SnapshotHeader header;
  require_sense(file.size() >= sizeof(header), "shorter than a header");
  std::memcpy(&header, file.data(), sizeof(header));
  require_sense(header.magic == kSnapshotMagic, "no snapshot of Oneiros");
  require_sense(header.checksum == crc32c(file.first(offsetof(SnapshotHeader, checksum))),
                "the header's checksum does not hold");
  require_sense(header.version == kSnapshotVersion, "written by another version");
  require_sense(header.file_size == file.size(), "not as long as it was written");
  require_sense(header.table_offset >= sizeof(header) && header.table_offset <= file.size() &&
                    header.table_offset % kSectionAlignment == 0,
                "the table lies outside of the file");
  require_sense(file.size() - header.table_offset ==
                    std::uint64_t{header.section_count} * sizeof(SectionEntry),
                "the table is not as long as it says");
  require_sense(header.table_checksum == crc32c(file.subspan(header.table_offset)),
                "the table's checksum does not hold");
  return header;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(path);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    throw std::system_error(errno, std::generic_category(), path.string());
  }
  require_sense(S_ISREG(status.st_mode), "no plain file");
  require_sense(status.st_size > 0, "empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, kMapping, file.number(), 0);
  if (start == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), path.string());
  }
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());  // nobody reads it any more
}

SnapshotReader::SnapshotReader(const std::filesystem::path& path, std::size_t threads)
    : file_(std::make_shared<MappedFile>(path)), header_(read_header(file_->bytes())) {
  const std::span<const std::byte> file = file_->bytes();
  table_ = {reinterpret_cast<const SectionEntry*>(file.data() + header_.table_offset),
            header_.section_count};
  std::uint64_t end = sizeof(SnapshotHeader);
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const SectionEntry& entry = table_[i];
    require_sense(i == 0 || key_of(table_[i - 1]) < key_of(entry), "sections are out of order");
    require_sense(entry.offset == aligned(end), "sections overlap or leave gaps");
    require_sense(
        entry.offset <= header_.table_offset && entry.size <= header_.table_offset - entry.offset,
        "a section lies outside of the file");
    end = entry.offset + entry.size;
  }
  require_sense(aligned(end) == header_.table_offset, "the table is not behind the sections");
  for_each_chunk(table_.size(), threads, 1, [&](std::size_t begin, std::size_t stop) {
    for (std::size_t i = begin; i < stop; ++i) {
      const SectionEntry& entry = table_[i];
      require_sense(crc32c(file.subspan(entry.offset, entry.size)) == entry.checksum,
                    "a section's checksum does not hold");
    }
  });
}

std::string_view SnapshotReader::text(SectionKind kind) const {
  const std::span<const std::byte> bytes = find(kind, 0);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const SectionEntry* SnapshotReader::entry_of(SectionKind kind, std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(table_, std::pair(number, kind), {}, key_of);
  return found == table_.end() || key_of(*found) != std::pair(number, kind) ? nullptr : &*found;
}

std::span<const std::byte> SnapshotReader::find(SectionKind kind, std::uint32_t number) const {
  const SectionEntry* const entry = entry_of(kind, number);
  require_sense(entry != nullptr, "a section is missing");
  return file_->bytes().subspan(entry->offset, entry->size);
}

std::string snapshot_identity(const std::filesystem::path& path) {
  return std::string(SnapshotReader(path, 1).text(SectionKind::kIdentity));
}

}  // namespace oneiros
