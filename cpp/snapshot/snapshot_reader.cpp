// Opening and verification of snapshot files.
//
// The header, the table and the bounds of all sections are validated first, with overflow-safe
// arithmetic. Then checksums are computed, in pieces shared by threads and combined
// (crc32c_joined), so that opening is as fast as memory or disk allow. Sections that searches
// rarely read are verified through a buffer instead of the mapping. A file with the stamp of one
// that this process wrote is trusted without further validation of its content.
#include "snapshot/snapshot_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <compare>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "encoding/crc32c.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

constexpr const char* kWrongChecksum = "a section's checksum does not hold";

// Throws std::system_error with errno and the path.
[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

// Device, inode, size and times with nanoseconds, as text.
std::string stamp_of(const struct stat& status) {
  const auto text_of = [](const timespec& time) {
    return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  };
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + text_of(status.st_mtim) + " " +
         text_of(status.st_ctim);
}

// The order of the table.
std::pair<std::uint32_t, SectionKind> key_of(const SectionEntry& entry) {
  return {entry.number, entry.kind};
}

// Validates magic, version, checksum and size of the header before any other field is used.
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

// Columns are mapped again where they are used, and most searches read no occurrences: mapping
// their pages for the checksum alone would take longer than copying them.
bool is_copied(SectionKind kind) { return is_column(kind) || kind == SectionKind::kOccurrences; }

// The checksum of a range of the file, read through a buffer.
std::uint32_t copied_sum(int file, std::uint64_t offset, std::size_t size) {
  std::array<std::byte, std::size_t{1} << 16U> buffer;
  std::uint32_t sum = crc32c({});
  while (size > 0) {
    const ssize_t count =
        ::pread(file, buffer.data(), std::min(size, buffer.size()), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    require_sense(count > 0, "a section cannot be read");
    sum = crc32c(std::span(buffer).first(static_cast<std::size_t>(count)), sum);
    offset += static_cast<std::uint64_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return sum;
}

// Throws SnapshotDamaged unless the checksums of sections hold. One section may be most of the
// file: threads share pieces, whose checksums are then combined.
void check_sums(const Descriptor& descriptor, std::span<const std::byte> file,
                std::span<const SectionEntry> sections, std::size_t threads) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
  struct Piece {
    std::size_t section;
    std::span<const std::byte> bytes;
    std::uint32_t sum = 0;
  };
  std::vector<Piece> pieces;
  for (std::size_t section = 0; section < sections.size(); ++section) {
    std::span<const std::byte> rest =
        file.subspan(sections[section].offset, sections[section].size);
    while (!rest.empty()) {
      const auto bytes = rest.first(std::min(rest.size(), kPieceBytes));
      pieces.push_back({.section = section, .bytes = bytes});
      rest = rest.subspan(bytes.size());
    }
  }
  for_each_chunk(pieces.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Piece& piece = pieces[i];
      const auto offset = static_cast<std::uint64_t>(piece.bytes.data() - file.data());
      piece.sum = is_copied(sections[piece.section].kind)
                      ? copied_sum(descriptor.number(), offset, piece.bytes.size())
                      : crc32c(piece.bytes);
    }
  });
  std::vector<std::uint32_t> sums(sections.size(), crc32c({}));
  for (const Piece& piece : pieces) {
    std::uint32_t& sum = sums[piece.section];
    sum = crc32c_joined(sum, piece.sum, piece.bytes.size());
  }
  for (std::size_t section = 0; section < sections.size(); ++section) {
    require_sense(sums[section] == sections[section].checksum, kWrongChecksum);
  }
}

// The part of an identity that another does not share, from one ", " to the next: identities name
// dozens of settings, of which one differs.
std::string_view without_common(std::string_view identity, std::string_view other) {
  constexpr std::string_view kBetween = ", ";
  constexpr std::size_t kLongest = 200;
  const auto begin =
      static_cast<std::size_t>(std::ranges::mismatch(identity, other).in1 - identity.begin());
  const std::size_t before = identity.substr(0, begin).rfind(kBetween);
  const std::size_t start = before == std::string_view::npos ? 0 : before + kBetween.size();
  const std::size_t most = std::min(identity.size(), other.size()) - begin;
  std::size_t shared = 0;
  while (shared < most && identity.rbegin()[shared] == other.rbegin()[shared]) {
    ++shared;
  }
  const std::size_t end = identity.find(kBetween, identity.size() - shared);
  return identity.substr(start, std::min(kLongest, end - start));
}

}  // namespace

Descriptor::Descriptor(const std::filesystem::path& path)
    : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (number_ < 0) {
    refuse(path);
  }
}

Descriptor::~Descriptor() { ::close(number_); }

std::string file_stamp(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    refuse(path);
  }
  return stamp_of(status);
}

// Maps the file and takes its stamp from the same descriptor, so that both belong to one file.
MappedFile::MappedFile(const std::filesystem::path& path, const Descriptor& file) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    refuse(path);
  }
  stamp_ = stamp_of(status);
  require_sense(S_ISREG(status.st_mode), "no plain file");
  require_sense(status.st_size > 0, "empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  // Not populated: the threads that read the pages first share that work.
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) {
    refuse(path);
  }
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<std::byte*>(bytes_.data()),
           bytes_.size());  // all users hold a reference, so none is left
}

// Validates header and table, then verifies checksums in parallel.
SnapshotReader::SnapshotReader(const std::filesystem::path& path, std::size_t threads,
                               std::string_view own_stamp)
    : descriptor_(path),
      file_(std::make_shared<MappedFile>(path, descriptor_)),
      is_own_(file_->stamp() == own_stamp),
      header_(read_header(file_->bytes())) {
  const std::span<const std::byte> file = file_->bytes();
  table_ = {reinterpret_cast<const SectionEntry*>(file.data() + header_.table_offset),
            header_.section_count};
  std::uint64_t end = sizeof(SnapshotHeader);
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const SectionEntry& entry = table_[i];
    require_sense(i == 0 || key_of(table_[i - 1]) < key_of(entry), "sections are out of order");
    require_sense(entry.offset == aligned(end, alignment_of(entry.kind)),
                  "sections overlap or leave gaps");
    require_sense(
        entry.offset <= header_.table_offset && entry.size <= header_.table_offset - entry.offset,
        "a section lies outside of the file");
    end = entry.offset + entry.size;
  }
  require_sense(aligned(end) == header_.table_offset, "the table is not behind the sections");
  std::vector<SectionEntry> checked_now;
  std::ranges::copy_if(table_, std::back_inserter(checked_now), [](const SectionEntry& entry) {
    return !is_checked_when_taken(entry.kind);
  });
  check_sums(descriptor_, file, checked_now, threads);
}

std::string_view SnapshotReader::text(SectionKind kind) const {
  const std::span<const std::byte> bytes = find(kind, 0);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void SnapshotReader::require_identity(std::string_view identity) const {
  if (const std::string_view found = text(SectionKind::kIdentity); found != identity) {
    throw SnapshotDamaged("made with '" + std::string(without_common(found, identity)) +
                          "', expected '" + std::string(without_common(identity, found)) + "'");
  }
}

const SectionEntry* SnapshotReader::entry_of(SectionKind kind, std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(table_, std::pair(number, kind), {}, key_of);
  return found == table_.end() || key_of(*found) != std::pair(number, kind) ? nullptr : &*found;
}

// The section's bytes in the mapping; nothing is copied.
std::span<const std::byte> SnapshotReader::find(SectionKind kind, std::uint32_t number) const {
  const SectionEntry* const entry = entry_of(kind, number);
  require_sense(entry != nullptr, "a section is missing");
  return file_->bytes().subspan(entry->offset, entry->size);
}

SnapshotReader::Place SnapshotReader::place_of(SectionKind kind, std::uint32_t number) const {
  const SectionEntry* const entry = entry_of(kind, number);
  require_sense(entry != nullptr, "a section is missing");
  return {.file = descriptor_.number(),
          .offset = entry->offset,
          .size = entry->size,
          .checksum = entry->checksum};
}

void SnapshotReader::check(SectionKind kind, std::uint32_t number, std::size_t threads) const {
  const SectionEntry* const entry = entry_of(kind, number);
  require_sense(entry != nullptr, "a section is missing");
  check_sums(descriptor_, file_->bytes(), {entry, 1}, threads);
}

// Reads the header, the table and one section.
std::string snapshot_identity(const std::filesystem::path& path) {
  return std::string(SnapshotReader(path, 1).text(SectionKind::kIdentity));
}

}  // namespace oneiros
