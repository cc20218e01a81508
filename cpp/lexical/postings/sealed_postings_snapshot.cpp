// Writes and reads sealed postings, and checks bytes of unknown origin before they are used.
// Invariant: after check() no read of any list leaves its bytes, and no bound on a score is too
// low.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "lexical/postings/sealed_postings.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {

constexpr unsigned kMostBits = 32;
constexpr std::size_t kFewestLists = 1024;  // per thread and step

// Cells must be consistent ranges: bounds are computed from them.
void check_cells(std::span<const ImpactCell> cells) {
  require_sense(cells.size() <= ImpactCells::kCount, "more impact cells than codes");
  for (const ImpactCell& cell : cells) {
    require_sense(1 <= cell.lowest_frequency && cell.lowest_frequency <= cell.highest_frequency &&
                      1 <= cell.shortest && cell.shortest <= cell.longest,
                  "an impact cell is empty");
  }
}

// Walks the bytes of one list exactly as the builder wrote them. One pass, no allocation.
class ListCheck {
 public:
  ListCheck(std::span<const ImpactCell> cells, std::span<const std::uint32_t> lengths)
      : cells_(cells), lengths_(lengths) {
    for (std::size_t code = 0; code < cells.size(); ++code) {
      is_open_[code] = cells[code].tells_frequency() ? 0 : 1;
    }
  }

  // `bytes` are those of one list, at least one; kPadding more bytes are readable.
  void run(std::span<const std::uint8_t> bytes) {
    const auto [size, size_bytes] = PackedList::read_size(bytes.data());
    require_sense(bytes[0] < kBlockSize || (bytes[0] == PackedList::kLongSize && size > kBlockSize),
                  "a list's size is not written as it should be");
    require_sense(bytes.size() >= size_bytes, "a list is cut off");
    bytes = bytes.subspan(size_bytes);
    require_sense(size >= 1 && size <= lengths_.size(), "a list of more documents than there are");
    const std::size_t block_count = (size + kBlockSize - 1) / kBlockSize;
    const bool is_long = block_count > 1;
    const std::size_t header = is_long
                                   ? CodeSummary::kBytes + 2 * sizeof(std::uint32_t) * block_count
                                   : sizeof(DocumentNumber);
    require_sense(bytes.size() >= header, "a list is cut off");
    const std::uint8_t* const firsts = bytes.data() + (is_long ? CodeSummary::kBytes : 0);
    if (is_long) {
      counts_.fill(0);
    }
    std::size_t at = header;
    std::uint64_t next = 0;  // the least document that may follow
    for (std::size_t index = 0; index < block_count; ++index) {
      if (is_long) {
        require_sense(
            read_u32(firsts + (block_count + index) * sizeof(std::uint32_t)) == at - header,
            "a block is not where its list says");
      }
      const std::uint32_t first = read_u32(firsts + index * sizeof(first));
      require_sense(first >= next, "blocks are not in order");
      const std::size_t count = std::min(kBlockSize, size - index * kBlockSize);
      at += check_block(bytes.subspan(at), first, count, next);
    }
    require_sense(at == bytes.size(), "a list is longer than its blocks");
    if (is_long) {
      std::array<std::uint8_t, CodeSummary::kBytes> summary;
      summary_of(counts_).write(summary.data());
      require_sense(std::memcmp(summary.data(), bytes.data(), summary.size()) == 0,
                    "a list's codes are not those of its postings");
    }
  }

 private:
  static std::uint32_t read_u32(const std::uint8_t* from) {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }

  // Checks one block and returns its size in bytes.
  std::size_t check_block(std::span<const std::uint8_t> bytes, std::uint32_t first,
                          std::size_t count, std::uint64_t& next) {
    require_sense(bytes.size() >= 1 + count, "a block is cut off");
    const std::size_t bits = bytes[0];
    require_sense(bits <= kMostBits, "a block of numbers that are too wide");
    const std::size_t packed = 1 + count;
    const std::size_t open = packed + (count * bits + 7) / 8;
    std::size_t open_count = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t code = bytes[1 + i];
      require_sense(code < cells_.size(), "a code without a cell");
      open_count += is_open_[code];
      ++counts_[code];
    }
    const std::size_t end = open + open_count * sizeof(std::uint32_t);
    require_sense(bytes.size() >= end, "a block is cut off");
    const PackedBlock block(first, bytes.data(), count);
    require_sense(block.difference(0) == 0, "a block does not begin with its first document");
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t document = std::uint64_t{first} + block.difference(i);
      require_sense(document >= next && document < lengths_.size(), "documents are not in order");
      // Bounds fall with the length: a posting in a wrong cell would be pruned wrongly.
      const ImpactCell& cell = cells_[bytes[1 + i]];
      require_sense(cell.shortest <= lengths_[document] && lengths_[document] <= cell.longest,
                    "a document's length is not in its posting's cell");
      next = document + 1;
    }
    if (open_count != 0) {
      check_open(bytes.subspan(1, count), bytes.data() + open);
    }
    return end;
  }

  void check_open(std::span<const std::uint8_t> codes, const std::uint8_t* open) const {
    for (const std::uint8_t code : codes) {
      if (is_open_[code] != 0) {
        const std::uint32_t frequency = read_u32(open);
        require_sense(cells_[code].lowest_frequency <= frequency &&
                          frequency <= cells_[code].highest_frequency,
                      "a frequency is not in its cell");
        open += sizeof(frequency);
      }
    }
  }

  std::span<const ImpactCell> cells_;
  std::span<const std::uint32_t> lengths_;
  std::array<std::uint8_t, ImpactCells::kCount> is_open_{};  // by code
  CodeCounts counts_{};                                      // of the current list, if it is long
};

}  // namespace

void SealedPostings::write(SnapshotWriter& snapshot, std::uint32_t number) const {
  snapshot.add(SectionKind::kImpactCells, number, cells_.cells());
  terms_.write(snapshot, SectionKind::kPostingTerms, number);
  starts_.write(snapshot, SectionKind::kPostingStarts, number);
  snapshot.add(SectionKind::kPostingBytes, number, bytes_.elements());
}

SealedPostings SealedPostings::read(const SnapshotReader& snapshot, std::uint32_t number) {
  SealedPostings postings;
  const auto cells = snapshot.take<ImpactCell>(SectionKind::kImpactCells, number);
  check_cells(cells.elements());
  postings.cells_ =
      ImpactCells(std::vector<ImpactCell>(cells.elements().begin(), cells.elements().end()));
  postings.terms_ = PackedNumbers::read(snapshot, SectionKind::kPostingTerms, number);
  postings.starts_ = PackedNumbers::read(snapshot, SectionKind::kPostingStarts, number);
  postings.bytes_ = snapshot.take<std::uint8_t>(SectionKind::kPostingBytes, number);
  return postings;
}

void SealedPostings::check(std::span<const std::uint32_t> lengths, std::size_t term_count,
                           std::size_t threads) const {
  const std::size_t count = terms_.size();
  const std::span<const std::uint8_t> bytes = bytes_.elements();
  terms_.check(count);
  starts_.check(count);
  require_sense(
      kPadding <= bytes.size() && bytes.size() <= std::numeric_limits<std::uint32_t>::max(),
      "too many bytes of postings, or too few");
  const std::span<const std::uint8_t> lists = bytes.first(bytes.size() - kPadding);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_least =
        i % PackedNumbers::kBlock != 0 || terms_[i] == terms_.least_of(i / PackedNumbers::kBlock);
    require_sense(terms_[i] < term_count && is_least && (i == 0 || terms_[i - 1] < terms_[i]),
                  "terms are not in order");
    require_sense(i == 0 ? starts_[i] == 0 : starts_[i - 1] < starts_[i], "lists are not in order");
  }
  require_sense(count == 0 ? lists.empty() : starts_[count - 1] < lists.size(),
                "a list lies outside of its segment");
  for_each_chunk(count, threads, grain_for(count, threads, kFewestLists),
                 [&](std::size_t begin, std::size_t end) {
                   ListCheck check(cells_.cells(), lengths);
                   for (std::size_t i = begin; i < end; ++i) {
                     const std::size_t start = starts_[i];
                     const std::size_t stop = i + 1 < count ? starts_[i + 1] : lists.size();
                     check.run(lists.subspan(start, stop - start));
                   }
                 });
}

}  // namespace oneiros::lexical
