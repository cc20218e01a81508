// Immutable compressed postings: for each term its documents, in blocks of 128, with impact codes.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lexical/postings/packed_numbers.h"
#include "lexical/postings/postings.h"
#include "lexical/search/impact_cells.h"
#include "lexical/search/window_loops.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros::lexical {

// A block of one list. Documents are stored as differences from the block's first one, all in the
// same number of bits, so that any of them can be read without decoding the others. Then one byte
// per posting, the impact code (see impact_cells.h), and four bytes for each frequency that its
// code does not determine. A view: valid as long as the segment.
class PackedBlock {
 public:
  PackedBlock() = default;
  // REQUIRES: bytes written by SealedPostingsBuilder.
  PackedBlock(DocumentNumber first, const std::uint8_t* bytes, std::size_t size)
      : first_(first), size_(size), bits_(bytes[0]), codes_(bytes + 1), packed_(codes_ + size) {}

  std::size_t size() const { return size_; }
  // The block's first document.
  DocumentNumber first() const { return first_; }
  // One code per posting.
  const std::uint8_t* codes() const { return codes_; }

  // Postings [begin, end) as input of the window loops, relative to the document `base`.
  PackedRun run(std::size_t begin, std::size_t end, DocumentNumber base) const {
    return {.codes = codes_,
            .differences = packed_,
            .bits = bits_,
            .begin = static_cast<std::uint32_t>(begin),
            .end = static_cast<std::uint32_t>(end),
            .shift = first_ - base};
  }

  // REQUIRES: i < size().
  DocumentNumber document(std::size_t i) const { return first_ + difference(i); }
  std::uint32_t difference(std::size_t i) const {
    const std::size_t bit = i * bits_;
    std::uint64_t word = 0;
    std::memcpy(&word, packed_ + bit / 8, sizeof(word));
    return static_cast<std::uint32_t>((word >> (bit % 8)) & ((std::uint64_t{1} << bits_) - 1));
  }

  // The first posting whose document is >= `document`; size() if there is none. O(log n),
  // branch-free.
  std::size_t lower_bound(DocumentNumber document) const;

  // The exact frequency. O(1) if the code determines it, else linear in i.
  std::uint32_t frequency(std::size_t i, const ImpactCells& cells) const {
    const ImpactCell& cell = cells[codes_[i]];
    return cell.tells_frequency() ? cell.lowest_frequency : open_frequency(i, cells);
  }

 private:
  // Counts the undetermined frequencies before posting i, then reads its own.
  std::uint32_t open_frequency(std::size_t i, const ImpactCells& cells) const;

  DocumentNumber first_ = 0;
  std::size_t size_ = 0;
  unsigned bits_ = 0;
  const std::uint8_t* codes_ = nullptr;
  const std::uint8_t* packed_ = nullptr;
};

// Blocks searched in lockstep by find_places(): every step of a binary search waits for the
// previous one, so a single search leaves the processor idle.
inline constexpr std::size_t kSideBySide = 4;

// For each block, the last place whose difference from the first document is at most the given one:
// the only place where the document can be. REQUIRES: no block is empty.
std::array<std::size_t, kSideBySide> find_places(
    const std::array<PackedBlock, kSideBySide>& blocks,
    const std::array<std::uint32_t, kSideBySide>& differences);

// The set of codes that occur in a list, one bit per code.
using CodeSet = std::array<std::uint64_t, ImpactCells::kCount / 64>;

// For long lists the code that bounds the best 10 and the best 100 postings is stored; a search for
// at most that many results takes its first threshold from it.
inline constexpr std::array<std::size_t, 2> kBestCounts = {10, 100};
static_assert(kBestCounts.back() <= kBlockSize);

// Summary of the codes of a list with more than one block.
struct CodeSummary {
  static constexpr std::size_t kBytes = sizeof(CodeSet) + kBestCounts.size();

  CodeSet occurring{};
  // At least kBestCounts[i] postings have this code or a smaller one. Smaller codes had greater
  // impact when the codes were assigned.
  std::array<std::uint8_t, kBestCounts.size()> best{};

  void write(std::uint8_t* bytes) const {
    std::memcpy(bytes, occurring.data(), sizeof(occurring));
    std::memcpy(bytes + sizeof(occurring), best.data(), best.size());
  }
};

// The number of postings of a list by code.
using CodeCounts = std::array<std::uint32_t, ImpactCells::kCount>;

// REQUIRES: the counts sum to more than one block.
CodeSummary summary_of(const CodeCounts& counts);

// The postings of one term in a sealed segment. A view: valid as long as the segment.
class PackedList {
 public:
  PackedList() = default;  // empty
  // REQUIRES: bytes written by SealedPostingsBuilder.
  explicit PackedList(const std::uint8_t* bytes);

  // The length of the list at `bytes`, and the number of bytes that encode it: one for a single
  // block, five otherwise.
  struct Size {
    std::size_t postings;
    std::size_t bytes;
  };
  static Size read_size(const std::uint8_t* bytes) {
    if (bytes[0] < kBlockSize) {
      return {.postings = bytes[0] + std::size_t{1}, .bytes = 1};
    }
    std::uint32_t size = 0;
    std::memcpy(&size, bytes + 1, sizeof(size));
    return {.postings = size, .bytes = kLongSizeBytes};
  }
  static constexpr std::size_t kLongSizeBytes = 1 + sizeof(std::uint32_t);
  static constexpr std::uint8_t kLongSize = std::numeric_limits<std::uint8_t>::max();
  static_assert(kBlockSize <= kLongSize);

  std::size_t size() const { return size_; }
  std::size_t block_count() const { return (size_ + kBlockSize - 1) / kBlockSize; }

  // REQUIRES: index < block_count()
  DocumentNumber first(std::size_t index) const {
    DocumentNumber first = 0;
    std::memcpy(&first, firsts_ + index * sizeof(first), sizeof(first));
    return first;
  }
  PackedBlock block(std::size_t index) const {
    return {first(index), blocks_ + start(index), std::min(kBlockSize, size_ - index * kBlockSize)};
  }

  // The last block at or after `from` whose first document is <= `document`; `from` if there is
  // none. Gallops: O(log d) for a distance of d blocks. REQUIRES: from < block_count().
  std::size_t find_block(DocumentNumber document, std::size_t from) const;

  // The codes that occur. Reads the block if the list has only one.
  CodeSet codes() const;

  // The stored code for the smallest of kBestCounts that is >= `count`; none for larger counts and
  // for lists of one block.
  std::optional<std::uint8_t> best_code(std::size_t count) const;

  // Prefetches a block into the cache. REQUIRES: index < block_count()
  void prefetch(std::size_t index) const {
    constexpr std::size_t kLine = 64;
    const std::uint8_t* const begin = blocks_ + start(index);
    const std::uint8_t* const end =
        index + 1 < block_count() ? blocks_ + start(index + 1) : begin + kBlockSize;
    for (const std::uint8_t* at = begin; at < end; at += kLine) {
      __builtin_prefetch(at);
    }
    __builtin_prefetch(end - 1);
  }

  // Calls visit(document, frequency) for each posting, ascending. Decodes every posting.
  template <typename Visit>
  void for_each(const ImpactCells& cells, Visit visit) const {
    for (std::size_t index = 0; index < block_count(); ++index) {
      const PackedBlock one = block(index);
      for (std::size_t i = 0; i < one.size(); ++i) {
        visit(one.document(i), one.frequency(i, cells));
      }
    }
  }

  // Writes the frequency of the term in each of the documents, in any order; 0 if it is not there.
  // REQUIRES: documents.size() == frequencies.size(). Two searches per document, the first of which
  // goes on where the last one ended if documents ascend.
  void look_up(const ImpactCells& cells, std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const;

 private:
  // The offset of a block's bytes.
  std::uint32_t start(std::size_t index) const {
    if (codes_ == nullptr) {
      return 0;  // one block
    }
    std::uint32_t start = 0;
    std::memcpy(&start, starts_ + index * sizeof(start), sizeof(start));
    return start;
  }

  std::size_t size_ = 0;
  // With several blocks: code summary, first document of each block, start of each block's bytes,
  // blocks. With one: its first document, the block.
  const std::uint8_t* codes_ = nullptr;
  const std::uint8_t* firsts_ = nullptr;
  const std::uint8_t* starts_ = nullptr;
  const std::uint8_t* blocks_ = nullptr;
};

// All postings of a sealed segment. Immutable after building or settle(); any number of threads may
// read.
class SealedPostings {
 public:
  // Eight bytes are loaded for each difference, possibly past the end of the last list.
  static constexpr std::size_t kPadding = sizeof(std::uint64_t);

  SealedPostings() = default;

  // The list of a term, empty if absent. Interpolation with a galloping search over the sorted
  // terms.
  PackedList find(TermId term) const;
  std::size_t term_count() const { return terms_.size(); }
  // The terms in ascending order, by slot.
  TermId term(std::size_t slot) const { return terms_[slot]; }
  // The list of term(slot).
  PackedList list(std::size_t slot) const { return PackedList(bytes_.data() + starts_[slot]); }
  // The length of a list without a look at its postings.
  std::size_t list_size(std::size_t slot) const {
    return PackedList::read_size(bytes_.data() + starts_[slot]).postings;
  }
  const ImpactCells& cells() const { return cells_; }
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;
  // The part of resident_bytes() used to find lists.
  std::size_t term_bytes() const;

  // Writes and reads the sections of segment `number`. Postings that were read must pass check()
  // before any other use.
  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static SealedPostings read(const SnapshotReader& snapshot, std::uint32_t number);

  // Throws SnapshotDamaged unless the content is what a builder produces for documents of these
  // lengths. Afterwards all operations stay within bounds and give exact results.
  void check(std::span<const std::uint32_t> lengths, std::size_t term_count,
             std::size_t threads) const;
  // Computes the derived members after read(). REQUIRES: content that satisfies check().
  void settle();

 private:
  friend class SealedPostingsBuilder;

  ImpactCells cells_;
  PackedNumbers terms_;
  PackedNumbers starts_;        // offsets of the lists in bytes_
  Stored<std::uint8_t> bytes_;  // the lists, and kPadding bytes
  TermId first_term_ = 0;
  TermId last_term_ = 0;
  std::size_t size_ = 0;
};

// Builds SealedPostings from lists in ascending order of terms. Single-threaded; linear.
class SealedPostingsBuilder {
 public:
  // `encoder` has assigned `cells`. It is referenced and must outlive the builder.
  SealedPostingsBuilder(const ImpactEncoder& encoder, ImpactCells cells);

  // Adds a list; throws std::length_error above 4 GiB. `lengths` are by document number. REQUIRES:
  // terms ascend from call to call, documents within a list; the list is not empty; the encoder has
  // seen every pair of frequency and length.
  void add(TermId term, std::span<const DocumentNumber> documents,
           std::span<const std::uint32_t> frequencies, std::span<const std::uint32_t> lengths);

  // Ends the building.
  SealedPostings take();

 private:
  void add_block(std::span<const DocumentNumber> documents,
                 std::span<const std::uint32_t> frequencies,
                 std::span<const std::uint32_t> lengths);

  const ImpactEncoder& encoder_;
  SealedPostings built_;
  std::vector<TermId> terms_;
  std::vector<std::uint32_t> starts_;
  CodeCounts counts_{};  // of the list being added
};

}  // namespace oneiros::lexical
