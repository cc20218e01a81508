// The snapshot file: a header, sections that begin on lines of the cache, a table of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

inline constexpr std::array<char, 8> kSnapshotMagic = {'O', 'N', 'E', 'I', 'R', 'O', 'S', 'L'};
// Another one for any change of what a section holds, or of the terms that texts are made into.
inline constexpr std::uint32_t kSnapshotVersion = 9;
inline constexpr std::size_t kSectionAlignment = 64;
inline constexpr std::size_t kPageAlignment = 4096;

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
  kPostingTermBits,
  kPostingStarts,
  kPostingStartBits,
  kPostingBytes,
  kRows,
  kRowBits,
  kRowGaps,
  kRowGapBits,
  kRowRuns,
  kRowRunBits,
  kLengths,
  kOccurrenceCode,
  kOccurrences,
  kOccurrenceStarts,
  kOccurrenceSizes,
  kDead,
  kIdBytes = 48,
  kIdStarts,
  kIdOrder,
  kVectorBlocks = 52,
  kVectorBits,
  kVectorValues,
  kVectorGraph,
  kFirstColumn = 64,  // each column of the schema has its own, in the schema's order
  kFirstPart = 256,   // what the writer's caller has numbered
};

constexpr SectionKind kind_at(SectionKind first, std::size_t place) {
  return static_cast<SectionKind>(static_cast<std::uint32_t>(first) + place);
}

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

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to = kSectionAlignment) {
  return (offset + to - 1) / to * to;
}

constexpr bool is_column(SectionKind kind) {
  return kind >= SectionKind::kFirstColumn && kind < SectionKind::kFirstPart;
}

// Columns and vectors are mapped to where they are written to, and so page by page.
constexpr std::size_t alignment_of(SectionKind kind) {
  return is_column(kind) || kind == SectionKind::kVectorValues ? kPageAlignment : kSectionAlignment;
}

// Large, and not needed by most processes: their checksums are compared when they are taken.
constexpr bool is_checked_when_taken(SectionKind kind) {
  return kind == SectionKind::kVectorValues || kind == SectionKind::kVectorGraph;
}

}  // namespace oneiros
