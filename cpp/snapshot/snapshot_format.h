// The snapshot file format: a header, sections aligned to cache lines or pages, and a table of
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneiros {

inline constexpr std::array<char, 8> kSnapshotMagic = {'O', 'N', 'E', 'I', 'R', 'O', 'S', 'L'};
// To be increased with any change of a section's content, or of the terms that texts are turned
// into.
inline constexpr std::uint32_t kSnapshotVersion = 11;
inline constexpr std::size_t kSectionAlignment = 64;
inline constexpr std::size_t kPageAlignment = 4096;

// The content of a section; `number` in the table distinguishes sections of the same kind.
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
  kStatementBytes,
  kStatementStarts,
  kFirstColumn = 64,  // one per column of the schema, in its order
  kFirstPart = 256,   // numbered by the caller of the writer
};

// The kind at an offset from another one, for kinds numbered in sequence.
constexpr SectionKind kind_at(SectionKind first, std::size_t place) {
  return static_cast<SectionKind>(static_cast<std::uint32_t>(first) + place);
}

// Little-endian, as in memory.
// The first bytes of the file. The checksums cover header and table; sections have their own.
struct SnapshotHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t revision;
  std::uint64_t table_offset;  // the table is at the end of the file
  std::uint64_t file_size;
  std::array<std::uint32_t, 4> reserved;  // zero
  std::uint32_t table_checksum;
  std::uint32_t checksum;  // of the fields above
};
static_assert(sizeof(SnapshotHeader) == kSectionAlignment);

// An entry of the table.
struct SectionEntry {
  SectionKind kind;
  std::uint32_t number;
  std::uint64_t offset;
  std::uint64_t size;  // bytes
  std::uint32_t checksum;
  std::uint32_t reserved;  // zero
};
static_assert(sizeof(SectionEntry) == 32);

// The next multiple of `to`.
constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to = kSectionAlignment) {
  return (offset + to - 1) / to * to;
}

constexpr bool is_column(SectionKind kind) {
  return kind >= SectionKind::kFirstColumn && kind < SectionKind::kFirstPart;
}

// Columns and vectors are mapped into their final place, hence page by page.
constexpr std::size_t alignment_of(SectionKind kind) {
  return is_column(kind) || kind == SectionKind::kVectorValues ? kPageAlignment : kSectionAlignment;
}

// Large sections that most processes do not read: verified when they are taken, not on opening.
constexpr bool is_checked_when_taken(SectionKind kind) {
  return kind == SectionKind::kVectorValues || kind == SectionKind::kVectorGraph ||
         kind == SectionKind::kStatementBytes;
}

}  // namespace oneiros
