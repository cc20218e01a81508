// The snapshot file: a header, sections that begin on lines of the cache, a table of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

inline constexpr std::array<char, 8> kSnapshotMagic = {'O', 'N', 'E', 'I', 'R', 'O', 'S', 'L'};
// Another one for any change of what a section holds, or of the terms that texts are made into.
inline constexpr std::uint32_t kSnapshotVersion = 3;
inline constexpr std::size_t kSectionAlignment = 64;

// What a section holds; `number` in the table tells those of a kind apart.
enum class SectionKind : std::uint32_t {
  kIdentity = 1,
  kAttachment,
  kStringSeed,
  kStringBytes,
  kStringStarts,
  kStringSlots,
  kMeanings,
  kTerms,
  kSurfaces,
  kImpactCells,
  kPostingTerms,
  kPostingEntries,
  kPostingBytes,
  kRows,
  kLengths,
  kOccurrences,
  kOccurrenceStarts,
  kOccurrenceSizes,
  kDead,
  kOccurrenceCode,
};

// Numbers lie as the machine has them, which is little-endian.
struct SnapshotHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t revision;
  std::uint64_t table_offset;  // the table ends the file
  std::uint64_t file_size;
  std::array<std::uint32_t, 4> reserved;  // 0
  std::uint32_t table_checksum;
  std::uint32_t checksum;  // of what stands before it
};
static_assert(sizeof(SnapshotHeader) == kSectionAlignment);

struct SectionEntry {
  SectionKind kind;
  std::uint32_t number;
  std::uint64_t offset;
  std::uint64_t size;  // bytes
  std::uint32_t checksum;
  std::uint32_t reserved;  // 0
};
static_assert(sizeof(SectionEntry) == 32);

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace oneiros
