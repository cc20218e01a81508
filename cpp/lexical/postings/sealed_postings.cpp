// Compressed postings with random access.
//
// Format: frame-of-reference bit packing per block of 128 (as in Lemire & Boytsov 2015, there with
// differences between neighbours). Differences from the block's first document cost more bits than
// those between neighbours, but any posting can be read alone, so that a search touches only the
// postings it needs. Scores are bounded by one byte per posting, the impact code: quantised impacts
// as in Anh & Moffat (2002), except that the byte names a cell of (frequency, length) pairs and the
// exact score is computed from the frequency. Lists of one block carry no block directory.
//
// Invariants: documents ascend; block starts ascend; the summary equals the codes of the list.
// Bytes from a snapshot are checked for all of this once (sealed_postings_snapshot.cpp), so that
// reading needs no checks.
//
// Cost: find() is one galloping search; a document is found by two binary searches, over block
// directory and block.
#include "lexical/postings/sealed_postings.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace oneiros::lexical {

namespace {

constexpr std::size_t kWordBits = 64;

void append_u32(std::vector<std::uint8_t>& bytes, std::uint32_t value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(value));
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

}  // namespace

CodeSummary summary_of(const CodeCounts& counts) {
  CodeSummary summary;
  std::size_t total = 0;
  std::size_t next_best = 0;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    if (counts[code] == 0) {
      continue;
    }
    summary.occurring[code / kWordBits] |= std::uint64_t{1} << (code % kWordBits);
    total += counts[code];
    for (; next_best < kBestCounts.size() && total >= kBestCounts[next_best]; ++next_best) {
      summary.best[next_best] = static_cast<std::uint8_t>(code);
    }
  }
  assert(next_best == kBestCounts.size());
  return summary;
}

std::size_t PackedBlock::lower_bound(DocumentNumber document) const {
  std::size_t at = 0;
  for (std::size_t left = size_; left > 0;) {
    const std::size_t half = left / 2;
    const bool is_below = this->document(at + half) < document;
    at += is_below ? left - half : 0;
    left = half;
  }
  return at;
}

std::array<std::size_t, kSideBySide> find_places(
    const std::array<PackedBlock, kSideBySide>& blocks,
    const std::array<std::uint32_t, kSideBySide>& differences) {
  const auto search = [&]<std::size_t... J>(std::index_sequence<J...>) {
    // Copied so that they stay in registers as far as possible.
    const std::array<PackedBlock, kSideBySide> own{blocks[J]...};
    const std::size_t size = std::max({own[J].size()...});
    std::array<std::size_t, kSideBySide> places{};
    for (std::size_t step = std::bit_ceil(size) / 2; step > 0; step /= 2) {
      // Conditional moves instead of branches: the outcome is unpredictable.
      const std::array<std::size_t, kSideBySide> next{
          std::min(places[J] + step, own[J].size() - 1)...};
      places = {(own[J].difference(next[J]) <= differences[J] ? next[J] : places[J])...};
    }
    return places;
  };
  return search(std::make_index_sequence<kSideBySide>());
}

std::uint32_t PackedBlock::open_frequency(std::size_t i, const ImpactCells& cells) const {
  std::size_t rank = 0;
  for (std::size_t j = 0; j < i; ++j) {
    rank += cells[codes_[j]].tells_frequency() ? 0 : 1;
  }
  std::uint32_t frequency = 0;
  const std::uint8_t* const open = packed_ + (size_ * bits_ + 7) / 8;
  std::memcpy(&frequency, open + rank * sizeof(frequency), sizeof(frequency));
  return frequency;
}

PackedList::PackedList(const std::uint8_t* bytes) {
  const Size size = read_size(bytes);
  size_ = size.postings;
  bytes += size.bytes;
  if (size_ <= kBlockSize) {
    firsts_ = bytes;
    blocks_ = bytes + sizeof(DocumentNumber);
    return;
  }
  codes_ = bytes;
  firsts_ = codes_ + CodeSummary::kBytes;
  starts_ = firsts_ + block_count() * sizeof(DocumentNumber);
  blocks_ = starts_ + block_count() * sizeof(std::uint32_t);
}

std::size_t PackedList::find_block(DocumentNumber document, std::size_t from) const {
  assert(from < block_count());
  std::size_t step = 1;
  std::size_t low = from;  // begins at or below the document, or is `from`
  while (low + step < block_count() && first(low + step) <= document) {
    low += step;
    step *= 2;
  }
  for (; step > 0; step /= 2) {
    if (low + step < block_count() && first(low + step) <= document) {
      low += step;
    }
  }
  return low;
}

CodeSet PackedList::codes() const {
  CodeSet codes{};
  if (codes_ != nullptr) {
    std::memcpy(codes.data(), codes_, sizeof(codes));
  } else if (size_ != 0) {
    const PackedBlock only = block(0);
    for (std::size_t i = 0; i < only.size(); ++i) {
      const std::uint8_t code = only.codes()[i];
      codes[code / kWordBits] |= std::uint64_t{1} << (code % kWordBits);
    }
  }
  return codes;
}

std::optional<std::uint8_t> PackedList::best_code(std::size_t count) const {
  if (codes_ == nullptr) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kBestCounts.size(); ++i) {
    if (count <= kBestCounts[i]) {
      return codes_[sizeof(CodeSet) + i];
    }
  }
  return std::nullopt;
}

void PackedList::look_up(const ImpactCells& cells, std::span<const DocumentNumber> documents,
                         std::span<std::uint32_t> frequencies) const {
  assert(documents.size() == frequencies.size());
  if (size_ == 0) {
    std::ranges::fill(frequencies, 0);
    return;
  }
  std::size_t at = 0;         // the block of the document before
  DocumentNumber before = 0;  // that document
  std::array<PackedBlock, kSideBySide> blocks;
  std::array<std::uint32_t, kSideBySide> differences{};
  for (std::size_t start = 0; start < documents.size(); start += kSideBySide) {
    const std::size_t count = std::min(kSideBySide, documents.size() - start);
    for (std::size_t j = 0; j < kSideBySide; ++j) {
      const DocumentNumber document = documents[start + std::min(j, count - 1)];
      at = find_block(document, document >= before ? at : 0);
      before = document;
      blocks[j] = block(at);
      // A document before the first of the list is not in the block, whichever place is read.
      differences[j] = document - std::min(document, blocks[j].first());
    }
    const std::array<std::size_t, kSideBySide> places = find_places(blocks, differences);
    for (std::size_t j = 0; j < count; ++j) {
      const bool is_there = blocks[j].document(places[j]) == documents[start + j];
      frequencies[start + j] = is_there ? blocks[j].frequency(places[j], cells) : 0;
    }
  }
}

PackedList SealedPostings::find(TermId term) const {
  const std::size_t count = term_count();
  if (count == 0 || term < first_term_ || term > last_term_) {
    return {};
  }
  // Terms are numbered by first appearance, so they are spread evenly over most segments.
  const std::uint64_t spread = std::uint64_t{last_term_} - first_term_ + 1;
  const std::size_t guess = std::uint64_t{term - first_term_} * count / spread;
  const std::size_t slot =
      terms_.gallop_search(guess, [term](std::size_t, TermId one) { return one >= term; });
  return slot != count && terms_[slot] == term ? list(slot) : PackedList();
}

std::size_t SealedPostings::resident_bytes() const {
  return term_bytes() + bytes_.resident_bytes() + cells_.resident_bytes();
}

std::size_t SealedPostings::term_bytes() const {
  return terms_.resident_bytes() + starts_.resident_bytes();
}

void SealedPostings::settle() {
  const std::size_t count = term_count();
  size_ = 0;
  for (std::size_t slot = 0; slot < count; ++slot) {
    size_ += list_size(slot);
  }
  first_term_ = count == 0 ? 0 : terms_[0];
  last_term_ = count == 0 ? 0 : terms_[count - 1];
}

SealedPostingsBuilder::SealedPostingsBuilder(const ImpactEncoder& encoder, ImpactCells cells)
    : encoder_(encoder) {
  built_.cells_ = std::move(cells);
}

void SealedPostingsBuilder::add(TermId term, std::span<const DocumentNumber> documents,
                                std::span<const std::uint32_t> frequencies,
                                std::span<const std::uint32_t> lengths) {
  assert(!documents.empty() && documents.size() == frequencies.size());
  assert(terms_.empty() || terms_.back() < term);
  std::vector<std::uint8_t>& bytes = built_.bytes_.own();
  const std::size_t start = bytes.size();
  const std::size_t size = documents.size();
  const std::size_t block_count = (size + kBlockSize - 1) / kBlockSize;
  if (block_count > 1) {
    bytes.push_back(PackedList::kLongSize);
    append_u32(bytes, static_cast<std::uint32_t>(size));
  } else {
    bytes.push_back(static_cast<std::uint8_t>(size - 1));
  }
  const std::size_t summary_at = bytes.size();
  std::size_t firsts_at = summary_at;
  if (block_count > 1) {
    firsts_at += CodeSummary::kBytes;
    counts_.fill(0);
    bytes.resize(firsts_at + block_count * 2 * sizeof(std::uint32_t));
  } else {
    bytes.resize(firsts_at + sizeof(DocumentNumber));
  }
  const std::size_t blocks_at = bytes.size();
  for (std::size_t index = 0; index < block_count; ++index) {
    const std::size_t from = index * kBlockSize;
    const std::size_t count = std::min(kBlockSize, size - from);
    const auto block_start = static_cast<std::uint32_t>(bytes.size() - blocks_at);
    std::memcpy(bytes.data() + firsts_at + index * sizeof(DocumentNumber), &documents[from],
                sizeof(DocumentNumber));
    if (block_count > 1) {
      std::memcpy(bytes.data() + firsts_at + (block_count + index) * sizeof(block_start),
                  &block_start, sizeof(block_start));
    }
    add_block(documents.subspan(from, count), frequencies.subspan(from, count), lengths);
  }
  if (block_count > 1) {
    summary_of(counts_).write(bytes.data() + summary_at);
  }
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - SealedPostings::kPadding) {
    throw std::length_error("a segment holds at most 4 GiB of postings");
  }
  terms_.push_back(term);
  starts_.push_back(static_cast<std::uint32_t>(start));
}

void SealedPostingsBuilder::add_block(std::span<const DocumentNumber> documents,
                                      std::span<const std::uint32_t> frequencies,
                                      std::span<const std::uint32_t> lengths) {
  std::vector<std::uint8_t>& bytes = built_.bytes_.own();
  const auto bits = static_cast<unsigned>(std::bit_width(documents.back() - documents.front()));
  const std::size_t codes_at = bytes.size() + 1;
  const std::size_t packed_at = codes_at + documents.size();
  const std::size_t packed_bytes = (documents.size() * bits + 7) / 8;
  bytes.push_back(static_cast<std::uint8_t>(bits));
  bytes.resize(packed_at + packed_bytes);
  std::uint64_t pending = 0;
  unsigned pending_bits = 0;
  std::size_t at = packed_at;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::uint8_t code = encoder_.encode(frequencies[i], lengths[documents[i]]);
    bytes[codes_at + i] = code;
    ++counts_[code];
    pending |= std::uint64_t{documents[i] - documents.front()} << pending_bits;
    for (pending_bits += bits; pending_bits >= 8; pending_bits -= 8) {
      bytes[at++] = static_cast<std::uint8_t>(pending);
      pending >>= 8U;
    }
  }
  if (pending_bits != 0) {
    bytes[at] = static_cast<std::uint8_t>(pending);
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (!built_.cells_[bytes[codes_at + i]].tells_frequency()) {
      append_u32(bytes, frequencies[i]);
    }
  }
}

SealedPostings SealedPostingsBuilder::take() {
  std::vector<std::uint8_t>& bytes = built_.bytes_.own();
  bytes.resize(bytes.size() + SealedPostings::kPadding);
  bytes.shrink_to_fit();
  built_.terms_ = PackedNumbers::of(terms_.size(), [&](std::size_t i) { return terms_[i]; });
  built_.starts_ = PackedNumbers::of(starts_.size(), [&](std::size_t i) { return starts_[i]; });
  built_.settle();
  return std::move(built_);
}

}  // namespace oneiros::lexical
