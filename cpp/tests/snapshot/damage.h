// Snapshots that somebody has written to be believed: what a reader must survive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encoding/crc32c.h"
#include "snapshot/snapshot_format.h"
#include "tests/rounds.h"

namespace oneiros::testing {

using FileBytes = std::vector<std::byte>;

// A folder that goes with its owner.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "oneiros-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline FileBytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  FileBytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// The number of a test's cases to run: more if the environment variable says so. ASan, which looks
// for just what damage may do, has all of them.
inline std::size_t case_count(const char* variable, std::size_t usual) {
#ifdef __SANITIZE_THREAD__
  usual = rounds(usual);
#endif
  const char* const asked = std::getenv(variable);
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

// The seed of a test's cases: that of the environment, so that a long run has others in each part.
inline std::uint64_t case_seed(std::uint64_t usual) {
  const char* const asked = std::getenv("ONEIROS_CASE_SEED");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

inline SnapshotHeader header_of(const FileBytes& file) {
  SnapshotHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

inline std::vector<SectionEntry> table_of(const FileBytes& file) {
  const SnapshotHeader header = header_of(file);
  std::vector<SectionEntry> table(header.section_count);
  std::memcpy(table.data(), file.data() + header.table_offset, table.size() * sizeof(SectionEntry));
  return table;
}

// The file of these sections, whose checksums are those of the table; the others are made right.
inline FileBytes laid_out(SnapshotHeader header, std::vector<SectionEntry> table,
                          std::span<const std::span<const std::byte>> sections) {
  FileBytes file(sizeof(header));
  std::size_t size = sizeof(header) + table.size() * sizeof(SectionEntry) + kSectionAlignment;
  for (std::size_t i = 0; i < table.size(); ++i) {
    size += sections[i].size() + alignment_of(table[i].kind);
  }
  file.reserve(size);
  for (std::size_t i = 0; i < table.size(); ++i) {
    file.resize(aligned(file.size(), alignment_of(table[i].kind)));
    table[i].offset = file.size();
    table[i].size = sections[i].size();
    file.insert(file.end(), sections[i].begin(), sections[i].end());
  }
  file.resize(aligned(file.size()));
  header.table_offset = file.size();
  header.section_count = static_cast<std::uint32_t>(table.size());
  const auto table_bytes = std::as_bytes(std::span(table));
  header.table_checksum = crc32c(table_bytes);
  file.insert(file.end(), table_bytes.begin(), table_bytes.end());
  header.file_size = file.size();
  header.checksum =
      crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, checksum)));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

// The file of these sections, with every checksum right.
inline FileBytes assembled(const SnapshotHeader& header, std::vector<SectionEntry> table,
                           const std::vector<FileBytes>& sections) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i].checksum = crc32c(sections[i]);
  }
  const std::vector<std::span<const std::byte>> spans(sections.begin(), sections.end());
  return laid_out(header, std::move(table), spans);
}

// Changes what the sections say, and makes all checksums right again.
class HostileSnapshots {
 public:
  HostileSnapshots(const FileBytes& sound, std::uint64_t seed)
      : header_(header_of(sound)), table_(table_of(sound)), random_(seed) {
    for (const SectionEntry& entry : table_) {
      const auto start = sound.begin() + static_cast<std::ptrdiff_t>(entry.offset);
      sections_.emplace_back(start, start + static_cast<std::ptrdiff_t>(entry.size));
    }
  }

  // The next files are those of a new object with this seed.
  void reseed(std::uint64_t seed) { random_.seed(seed); }

  FileBytes next() {
    // Most sections stay as they are: they are not copied, and their checksums hold.
    std::vector<std::span<const std::byte>> sections(sections_.begin(), sections_.end());
    std::vector<SectionEntry> table = table_;
    std::vector<FileBytes> copies;
    copies.reserve(kMostChanges);  // they stay in place
    for (std::size_t change = 0; change < 1 + below(kMostChanges); ++change) {
      const std::size_t chosen = below(sections.size());
      FileBytes& section = copies.emplace_back(sections[chosen].begin(), sections[chosen].end());
      switch (below(8)) {
        case 0:  // shorter
          section.resize(section.size() - std::min(section.size(), kSizes[below(kSizes.size())]));
          break;
        case 1:  // longer
          section.resize(section.size() + kSizes[below(kSizes.size())]);
          break;
        case 2:  // of another segment, or another kind
          section = sections_[below(sections_.size())];
          break;
        case 3:
          if (sections.size() > 1) {
            sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(chosen));
            table.erase(table.begin() + static_cast<std::ptrdiff_t>(chosen));
          }
          continue;
        case 4:
          swap_numbers(section);
          break;
        case 5:
          if (!section.empty()) {
            section[below(section.size())] = static_cast<std::byte>(below(256));
          }
          break;
        default:
          put_number(section);
          break;
      }
      sections[chosen] = section;
      table[chosen].checksum = crc32c(section);
    }
    FileBytes file = laid_out(header_, std::move(table), sections);
    if (below(8) == 0) {
      bend_table(file);
    }
    return file;
  }

 private:
  static constexpr std::size_t kMostChanges = 3;
  static constexpr std::array<std::size_t, 7> kSizes = {1, 4, 8, 12, 16, 64, 4096};

  std::size_t below(std::size_t end) { return random_() % end; }

  // A number where one may stand: small, large, or close to what is there.
  void put_number(FileBytes& section) {
    const std::size_t width = below(3) == 0 ? 8 : 4;
    if (section.size() < width) {
      return;
    }
    const std::size_t at = below(section.size() / width) * width;
    std::uint64_t number = 0;
    std::memcpy(&number, section.data() + at, width);
    switch (below(6)) {
      case 0:
        number += 1;
        break;
      case 1:
        number -= 1;
        break;
      case 2:
        number = 0;
        break;
      case 3:
        number = ~std::uint64_t{0} - below(3);
        break;
      case 4:
        number = below(300);
        break;
      default:
        number ^= std::uint64_t{1} << below(8 * width);
        break;
    }
    std::memcpy(section.data() + at, &number, width);
  }

  void swap_numbers(FileBytes& section) {
    constexpr std::size_t kWidth = 4;
    const std::size_t count = section.size() / kWidth;
    if (count >= 2) {
      const auto at = section.begin();
      const auto first = static_cast<std::ptrdiff_t>(below(count) * kWidth);
      const auto second = static_cast<std::ptrdiff_t>(below(count) * kWidth);
      std::swap_ranges(at + first, at + first + kWidth, at + second);
    }
  }

  // Numbers of the header or the table, under right checksums.
  void bend_table(FileBytes& file) {
    SnapshotHeader header = header_of(file);
    const auto body = std::span(file).subspan(header.table_offset);
    FileBytes table(body.begin(), body.end());
    put_number(table);
    std::ranges::copy(table, body.begin());
    header.table_checksum = crc32c(body);
    switch (below(4)) {
      case 0:
        header.table_offset += kSectionAlignment;
        break;
      case 1:
        header.section_count += 1;
        break;
      case 2:
        header.file_size = ~std::uint64_t{0};
        break;
      default:
        break;
    }
    header.checksum =
        crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, checksum)));
    std::memcpy(file.data(), &header, sizeof(header));
  }

  SnapshotHeader header_;
  std::vector<SectionEntry> table_;
  std::vector<FileBytes> sections_;
  std::mt19937_64 random_;
};

}  // namespace oneiros::testing
