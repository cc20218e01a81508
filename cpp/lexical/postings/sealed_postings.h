// Postings that never change, packed: for each term the documents that hold it, in blocks of 128.
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

// A block's documents are kept as differences from its first, each in the same number of bits, so
// that any of them is read alone; beside them a byte each, the impact code. The frequencies that
// the codes leave open follow, four bytes each.
class PackedBlock {
 public:
  PackedBlock() = default;
  PackedBlock(DocumentNumber first, const std::uint8_t* bytes, std::size_t size)
      : first_(first), size_(size), bits_(bytes[0]), codes_(bytes + 1), packed_(codes_ + size) {}

  std::size_t size() const { return size_; }
  DocumentNumber first() const { return first_; }
  const std::uint8_t* codes() const { return codes_; }

  // Postings [begin, end), placed in a window that begins with the document `base`.
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

  // The first posting whose document is `document` or above; size() if there is none.
  std::size_t lower_bound(DocumentNumber document) const;

  std::uint32_t frequency(std::size_t i, const ImpactCells& cells) const {
    const ImpactCell& cell = cells[codes_[i]];
    return cell.tells_frequency() ? cell.lowest_frequency : open_frequency(i, cells);
  }

 private:
  std::uint32_t open_frequency(std::size_t i, const ImpactCells& cells) const;

  DocumentNumber first_ = 0;
  std::size_t size_ = 0;
  unsigned bits_ = 0;
  const std::uint8_t* codes_ = nullptr;
  const std::uint8_t* packed_ = nullptr;
};

// So many blocks are searched at once: each step of a search waits for the one before, so that one
// search alone leaves the processor idle.
inline constexpr std::size_t kSideBySide = 4;

// Where in each block a document may stand that comes so far after its first one: at the last place
// whose difference is no higher. REQUIRES: no block is empty.
std::array<std::size_t, kSideBySide> find_places(
    const std::array<PackedBlock, kSideBySide>& blocks,
    const std::array<std::uint32_t, kSideBySide>& differences);

// Which codes occur in a list.
using CodeSet = std::array<std::uint64_t, ImpactCells::kCount / 64>;

// So many of a long list's best postings are known by their code: a search for as many or fewer
// starts with what they reach.
inline constexpr std::array<std::size_t, 2> kBestCounts = {10, 100};
static_assert(kBestCounts.back() <= kBlockSize);

// What a list of several blocks tells of its codes.
struct CodeSummary {
  static constexpr std::size_t kBytes = sizeof(CodeSet) + kBestCounts.size();

  CodeSet occurring{};
  // At least kBestCounts[i] postings have this code or one below it, which is a better one or was
  // so when the codes were chosen.
  std::array<std::uint8_t, kBestCounts.size()> best{};

  void write(std::uint8_t* bytes) const {
    std::memcpy(bytes, occurring.data(), sizeof(occurring));
    std::memcpy(bytes + sizeof(occurring), best.data(), best.size());
  }
};

// How many postings of a list have each code.
using CodeCounts = std::array<std::uint32_t, ImpactCells::kCount>;

// REQUIRES: more than a block of postings.
CodeSummary summary_of(const CodeCounts& counts);

// One term's postings in a sealed segment. Valid as long as the segment.
class PackedList {
 public:
  PackedList() = default;  // empty
  // REQUIRES: what SealedPostings wrote.
  explicit PackedList(const std::uint8_t* bytes);

  // How many postings the list has that begins there, and how many bytes say so: one, unless there
  // are several blocks.
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

  // The last block, from `from` on, that begins at or below the document; `from` if none does.
  // REQUIRES: from < block_count(). Quick where it is near.
  std::size_t find_block(DocumentNumber document, std::size_t from) const;

  CodeSet codes() const;

  // The code that one of kBestCounts, `count` or above, tells of; nothing if none is, or if the
  // list is short.
  std::optional<std::uint8_t> best_code(std::size_t count) const;

  // Asks for a block's bytes without reading any. REQUIRES: index < block_count()
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

  // Calls visit(document, frequency) for each posting, ascending.
  template <typename Visit>
  void for_each(const ImpactCells& cells, Visit visit) const {
    for (std::size_t index = 0; index < block_count(); ++index) {
      const PackedBlock one = block(index);
      for (std::size_t i = 0; i < one.size(); ++i) {
        visit(one.document(i), one.frequency(i, cells));
      }
    }
  }

  // Writes how often each of the documents, in any order, holds the term; 0 where it does not.
  // REQUIRES: documents.size() == frequencies.size().
  void look_up(const ImpactCells& cells, std::span<const DocumentNumber> documents,
               std::span<std::uint32_t> frequencies) const;

 private:
  std::uint32_t start(std::size_t index) const {
    if (codes_ == nullptr) {
      return 0;  // one block
    }
    std::uint32_t start = 0;
    std::memcpy(&start, starts_ + index * sizeof(start), sizeof(start));
    return start;
  }

  std::size_t size_ = 0;
  // Of lists of several blocks: the summary of codes, the first document of each block, where each
  // block's bytes start, the blocks. Of others: the first document, the block.
  const std::uint8_t* codes_ = nullptr;
  const std::uint8_t* firsts_ = nullptr;
  const std::uint8_t* starts_ = nullptr;
  const std::uint8_t* blocks_ = nullptr;
};

class SealedPostings {
 public:
  // Differences are read eight bytes at once.
  static constexpr std::size_t kPadding = sizeof(std::uint64_t);

  SealedPostings() = default;

  PackedList find(TermId term) const;
  std::size_t term_count() const { return terms_.size(); }
  TermId term(std::size_t slot) const { return terms_[slot]; }  // ascending
  PackedList list(std::size_t slot) const {                     // of that term
    return PackedList(bytes_.data() + starts_[slot]);
  }
  std::size_t list_size(std::size_t slot) const {
    return PackedList::read_size(bytes_.data() + starts_[slot]).postings;
  }
  const ImpactCells& cells() const { return cells_; }
  std::size_t size() const { return size_; }
  std::size_t resident_bytes() const;
  std::size_t term_bytes() const;  // of those, what finds the lists

  // The sections of the segment `number`, and back. What was read is neither safe nor right before
  // check() has returned.
  void write(SnapshotWriter& snapshot, std::uint32_t number) const;
  static SealedPostings read(const SnapshotReader& snapshot, std::uint32_t number);

  // Throws SnapshotDamaged unless all is as a builder leaves it for documents of these lengths:
  // whatever is then asked, is answered from what is there.
  void check(std::span<const std::uint32_t> lengths, std::size_t term_count,
             std::size_t threads) const;
  // Makes what was read ready for searches. REQUIRES: check() found nothing, or would not.
  void settle();

 private:
  friend class SealedPostingsBuilder;

  ImpactCells cells_;
  PackedNumbers terms_;
  PackedNumbers starts_;        // of their lists' bytes
  Stored<std::uint8_t> bytes_;  // kPadding more than the lists have
  TermId first_term_ = 0;
  TermId last_term_ = 0;
  std::size_t size_ = 0;
};

// Takes the lists term by term.
class SealedPostingsBuilder {
 public:
  // `encoder` has assigned `cells`, and outlives the builder.
  SealedPostingsBuilder(const ImpactEncoder& encoder, ImpactCells cells);

  // REQUIRES: terms ascend from call to call, documents within one; at least one posting; the
  // encoder has seen each pair of frequency and length.
  void add(TermId term, std::span<const DocumentNumber> documents,
           std::span<const std::uint32_t> frequencies, std::span<const std::uint32_t> lengths);

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
