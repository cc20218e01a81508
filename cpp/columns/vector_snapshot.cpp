// Vectors in a snapshot: block by block, each block's rows at their places, so that they can be
// mapped as they are.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "columns/vector_column.h"
#include "encoding/crc32c.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

constexpr std::size_t kMostComponents = std::size_t{1} << 16U;

// The place after the last bit that is set.
std::size_t end_of(std::span<const std::uint64_t> words) {
  std::size_t end = 0;
  for (std::size_t word = 0; word < words.size(); ++word) {
    if (words[word] != 0) {
      end = word * 64 + static_cast<std::size_t>(std::bit_width(words[word]));
    }
  }
  return end;
}

}  // namespace

VectorColumn::Image::Image(const VectorColumn& column) {
  numbers_.push_back(static_cast<std::uint32_t>(column.dimension_));
  const std::size_t block_bytes = kRowsOfBlock * column.row_bytes();
  for (std::size_t number = 0; number < column.block_end_.load(std::memory_order_acquire);
       ++number) {
    const Block* const block = column.block_of(number);
    if (block == nullptr || block->count == 0) {  // memory ran out before anything was written
      continue;
    }
    numbers_.push_back(static_cast<std::uint32_t>(number));
    for (const auto& word : block->has_vector) {
      bits_.push_back(word.load(std::memory_order_acquire));
    }
    values_.push_back(std::as_bytes(std::span(block->values(), block_bytes / sizeof(float))));
  }
}

std::vector<SnapshotSection> VectorColumn::Image::sections() const {
  return {{.kind = SectionKind::kVectorBlocks, .bytes = std::as_bytes(std::span(numbers_))},
          {.kind = SectionKind::kVectorBits, .bytes = std::as_bytes(std::span(bits_))},
          {.kind = SectionKind::kVectorValues, .bytes = {}, .more = values_}};
}

std::shared_ptr<VectorColumn> VectorColumn::restored(const SnapshotReader& snapshot,
                                                     std::size_t row_end, std::size_t threads) {
  const auto numbers = snapshot.take<std::uint32_t>(SectionKind::kVectorBlocks, 0);
  const auto bits = snapshot.take<std::uint64_t>(SectionKind::kVectorBits, 0);
  require_sense(numbers.size() >= 1 && numbers[0] >= 1 && numbers[0] <= kMostComponents,
                "no width of a vector");
  const auto blocks = numbers.elements().subspan(1);
  require_sense(bits.size() == blocks.size() * kWordsOfBlock, "not as many bits as vectors");
  require_sense(std::ranges::adjacent_find(blocks, std::ranges::greater_equal{}) == blocks.end(),
                "blocks of vectors are out of order");
  require_sense(blocks.empty() || std::size_t{blocks.back()} * kRowsOfBlock +
                                          end_of(bits.elements().last(kWordsOfBlock)) <=
                                      row_end,
                "a vector of no row");
  auto column = std::make_shared<VectorColumn>(numbers[0]);
  column->read(snapshot, blocks, bits.elements(), threads);
  return column;
}

// REQUIRES: the column is empty and not shared yet.
void VectorColumn::read(const SnapshotReader& snapshot, std::span<const std::uint32_t> numbers,
                        std::span<const std::uint64_t> bits, std::size_t threads) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::size_t block_bytes = kRowsOfBlock * row_bytes();
  const SnapshotReader::Place place = snapshot.place_of(SectionKind::kVectorValues, 0);
  require_sense(place.size == numbers.size() * block_bytes, "not as many vectors as they say");
  const bool is_mapped = place.offset % page == 0 && block_bytes % page == 0;
  const Stored<float> values = snapshot.take<float>(SectionKind::kVectorValues, 0);
  if (!numbers.empty()) {
    table_.open((std::size_t{numbers.back()} + 1) * sizeof(BlockPlace));
    block_end_.store(std::size_t{numbers.back()} + 1, std::memory_order_release);
  }
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto block = std::make_unique<Block>();
    block->memory = AddressRange(block_bytes);
    if (is_mapped) {
      block->memory.open_over(place.file, place.offset + i * block_bytes, block_bytes);
    } else {  // the system's pages are larger than the alignment
      block->memory.open(block_bytes);
      std::memcpy(block->memory.data(), values.data() + i * kRowsOfBlock * width_, block_bytes);
    }
    for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
      const std::uint64_t own = bits[i * kWordsOfBlock + word];
      block->has_vector[word].store(own, std::memory_order_relaxed);
      block->count += static_cast<std::size_t>(std::popcount(own));
    }
    block->open_rows = end_of(bits.subspan(i * kWordsOfBlock, kWordsOfBlock));
    require_sense(block->count > 0, "a block without vectors");
    count_.fetch_add(block->count, std::memory_order_relaxed);
    resident_bytes_.fetch_add(block->open_rows * row_bytes(), std::memory_order_relaxed);
    pieces.push_back(std::as_bytes(std::span(block->values(), block_bytes / sizeof(float))));
    places()[numbers[i]].store(block.release(), std::memory_order_release);
  }
  // Read through the pages that searches use, so that they are loaded once.
  std::vector<std::uint32_t> sums(pieces.size());
  for_each_chunk(pieces.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      sums[i] = crc32c(pieces[i]);
    }
  });
  std::uint32_t sum = crc32c({});
  for (const std::uint32_t own : sums) {
    sum = crc32c_joined(sum, own, block_bytes);
  }
  require_sense(sum == place.checksum, "the checksum of the vectors does not hold");
}

}  // namespace oneiros
