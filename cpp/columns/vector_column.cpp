// Vectors lie in blocks of 512 rows, each at its row's place, so that a scan reads memory from
// front to back. A table of pointers leads to the blocks; both are reserved addresses, so a column
// of few rows holds few pages. A bit a row says whether it has a vector. A writer fills a row
// nobody reads and sets its bit afterwards, so new rows need no lock; only what is replaced or
// removed is changed while no reader is inside. Readers leave every few thousand rows, which bounds
// a writer's wait.
//
// nearest() lists the rows of a block that are chosen, scores them in one call of the kernel, and
// offers to the heap what reaches its threshold. nearest_many() does so for a tile of queries while
// the block is in the cache. Cost: a pass over the chosen vectors; 384 components take about 15 ns
// in the cache.
#include "columns/vector_column.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "threads/for_each_chunk.h"
#include "threads/pause.h"

namespace oneiros {

namespace {

constexpr std::size_t kRowEnd = std::size_t{1} << 32;
constexpr std::size_t kMostScored = 4'096;  // between two moments at which a writer may come in
constexpr std::size_t kQueriesOfTile = 16;
constexpr std::size_t kVectorsOfTile = 8;
constexpr std::size_t kGroup = 64;  // rows looked up before they are scored

// A query as the loops want it: as it is, where it needs no zeros behind it.
class PaddedQuery {
 public:
  PaddedQuery(std::span<const float> query, std::size_t width) : data_(query.data()) {
    if (query.size() != width) {
      padded_.resize(width);
      std::ranges::copy(query, padded_.begin());
      data_ = padded_.data();
    }
  }
  [[nodiscard]] const float* data() const noexcept { return data_; }

 private:
  std::vector<float> padded_;
  const float* data_;
};

// 64 bits of the rows from `word` * 64 on.
std::uint64_t word_of(RowBits bits, std::size_t word) noexcept {
  const std::size_t begin = word * 8;
  std::uint64_t found = 0;
  if (begin < bits.size()) {
    std::memcpy(&found, bits.data() + begin, std::min<std::size_t>(8, bits.size() - begin));
  }
  return found;
}

void require_size(std::size_t size, std::size_t dimension) {
  if (size != dimension) {
    throw std::invalid_argument("query: expected " + std::to_string(dimension) +
                                " components, got " + std::to_string(size));
  }
}

}  // namespace

VectorColumn::VectorColumn(std::size_t dimension)
    : dimension_(dimension), width_(padded_width(dimension)) {
  if (dimension == 0) {
    throw std::invalid_argument("dimension: must be >= 1, got 0");
  }
  table_ = AddressRange(kRowEnd / kRowsOfBlock * sizeof(BlockPlace));
}

VectorColumn::~VectorColumn() {
  for (std::size_t number = 0; number < block_end_; ++number) {
    delete places()[number].load(std::memory_order_relaxed);
  }
}

VectorColumn::Block* VectorColumn::block_of(std::size_t number) const noexcept {
  if (number >= block_end_.load(std::memory_order_acquire)) {
    return nullptr;
  }
  return places()[number].load(std::memory_order_acquire);
}

const float* VectorColumn::at(std::uint32_t row) const noexcept {
  const Block* const block = block_of(row / kRowsOfBlock);
  const std::size_t place = row % kRowsOfBlock;
  if (block == nullptr ||
      ((block->has_vector[place / 64].load(std::memory_order_acquire) >> (place % 64)) & 1U) == 0) {
    return nullptr;
  }
  return block->values() + place * width_;
}

bool VectorColumn::has(std::uint32_t row) const noexcept {
  const auto lock = shared();
  return at(row) != nullptr;
}

void VectorColumn::open(std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    const std::size_t number = row / kRowsOfBlock;
    if (number >= block_end_.load(std::memory_order_relaxed)) {
      table_.open((number + 1) * sizeof(BlockPlace));  // whose bytes are 0: no block
      block_end_.store(number + 1, std::memory_order_release);
    }
    if (block_of(number) == nullptr) {
      auto block = std::make_unique<Block>();
      block->memory = AddressRange(kRowsOfBlock * row_bytes());
      block->memory.open(kRowsOfBlock * row_bytes());
      places()[number].store(block.release(), std::memory_order_release);
    }
  }
}

// REQUIRES: open(); the row has no vector, or no reader is inside.
void VectorColumn::put(std::uint32_t row, const float* vector) noexcept {
  Block& block = *block_of(row / kRowsOfBlock);
  const std::size_t place = row % kRowsOfBlock;
  std::copy_n(vector, dimension_, block.values() + place * width_);
  if (place >= block.open_rows) {
    resident_bytes_.fetch_add((place + 1 - block.open_rows) * row_bytes(),
                              std::memory_order_relaxed);
    block.open_rows = place + 1;
  }
  const std::uint64_t bit = std::uint64_t{1} << (place % 64);
  if ((block.has_vector[place / 64].fetch_or(bit, std::memory_order_release) & bit) == 0) {
    ++block.count;
    count_.fetch_add(1, std::memory_order_relaxed);
  }
}

// REQUIRES: no reader is inside.
bool VectorColumn::take(std::uint32_t row) noexcept {
  Block* const block = block_of(row / kRowsOfBlock);
  const std::size_t place = row % kRowsOfBlock;
  const std::uint64_t bit = std::uint64_t{1} << (place % 64);
  if (block == nullptr ||
      (block->has_vector[place / 64].fetch_and(~bit, std::memory_order_relaxed) & bit) == 0) {
    return false;
  }
  std::fill_n(block->values() + place * width_, dimension_, 0.0F);
  --block->count;
  count_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// Gives the memory of blocks that are empty back, of those of the rows. REQUIRES: no reader is
// inside.
void VectorColumn::release_empty(std::span<const std::uint32_t> rows) noexcept {
  for (const std::uint32_t row : rows) {
    const std::size_t number = row / kRowsOfBlock;
    Block* const block = block_of(number);
    if (block != nullptr && block->count == 0) {
      places()[number].store(nullptr, std::memory_order_relaxed);
      resident_bytes_.fetch_sub(block->open_rows * row_bytes(), std::memory_order_relaxed);
      delete block;
    }
  }
}

std::size_t VectorColumn::write(std::span<const std::uint32_t> rows,
                                std::span<const float> vectors) {
  if (vectors.size() != rows.size() * dimension_) {
    throw std::invalid_argument("vectors: expected " + std::to_string(rows.size() * dimension_) +
                                " components, got " + std::to_string(vectors.size()));
  }
  const std::scoped_lock writing(writers_);
  open(rows);
  // From here on nothing throws.
  std::unique_lock<ForkSafeSharedMutex> lock;
  std::size_t written = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* const vector = vectors.data() + i * dimension_;
    if (!lock && at(rows[i]) != nullptr) {
      lock = alone();
    }
    if (std::any_of(vector, vector + dimension_, [](float x) { return x != 0; })) {
      put(rows[i], vector);
      ++written;
    } else {
      take(rows[i]);  // of a row with a vector: alone
    }
  }
  if (written < rows.size()) {
    lock = lock ? std::move(lock) : alone();
    release_empty(rows);
  }
  return written;
}

std::size_t VectorColumn::remove(std::span<const std::uint32_t> rows) {
  const std::scoped_lock writing(writers_);
  if (std::ranges::none_of(rows, [&](std::uint32_t row) { return at(row) != nullptr; })) {
    return 0;
  }
  const auto lock = alone();
  const auto taken = std::ranges::count_if(rows, [&](std::uint32_t row) { return take(row); });
  release_empty(rows);
  return static_cast<std::size_t>(taken);
}

std::shared_lock<ForkSafeSharedMutex> VectorColumn::shared() const {
  const std::scoped_lock passing(gate_);
  return std::shared_lock(readers_);
}

std::unique_lock<ForkSafeSharedMutex> VectorColumn::alone() const {
  const std::scoped_lock passing(gate_);
  return std::unique_lock(readers_);
}

std::uint64_t VectorColumn::chosen_of(std::size_t number, std::size_t word,
                                      const VectorRows& chosen) const noexcept {
  const std::size_t at = number * kWordsOfBlock + word;
  const std::uint64_t allowed = chosen.allowed ? word_of(*chosen.allowed, at) : ~std::uint64_t{0};
  const std::uint64_t wanted = allowed & ~word_of(chosen.minus, at);
  if (wanted == 0) {
    return 0;
  }
  const Block* const block = block_of(number);
  return block == nullptr ? 0 : block->has_vector[word].load(std::memory_order_acquire) & wanted;
}

std::vector<std::uint32_t> VectorColumn::rows(const VectorRows& chosen) const {
  const auto lock = shared();
  std::vector<std::uint32_t> found;
  const std::size_t word_end = block_end_.load(std::memory_order_acquire) * kWordsOfBlock;
  for (std::size_t word = 0; word < word_end; ++word) {
    std::uint64_t bits = chosen_of(word / kWordsOfBlock, word % kWordsOfBlock, chosen);
    for (; bits != 0; bits &= bits - 1) {
      found.push_back(static_cast<std::uint32_t>(word * 64) +
                      static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
  return found;
}

std::size_t VectorColumn::count(const VectorRows& chosen) const {
  const auto lock = shared();
  std::size_t found = 0;
  const std::size_t word_end = block_end_.load(std::memory_order_acquire) * kWordsOfBlock;
  for (std::size_t word = 0; word < word_end; ++word) {
    found += static_cast<std::size_t>(
        std::popcount(chosen_of(word / kWordsOfBlock, word % kWordsOfBlock, chosen)));
  }
  return found;
}

void VectorColumn::reconstruct(std::span<const std::uint32_t> rows,
                               std::span<float> vectors) const {
  assert(vectors.size() == rows.size() * dimension_);
  for (std::size_t begin = 0; begin < rows.size(); begin += kMostScored) {
    const auto lock = shared();
    const std::size_t end = std::min(rows.size(), begin + kMostScored);
    for (std::size_t i = begin; i < end; ++i) {
      const float* const vector = at(rows[i]);
      float* const out = vectors.data() + i * dimension_;
      if (vector == nullptr) {
        std::fill_n(out, dimension_, 0.0F);
      } else {
        std::copy_n(vector, dimension_, out);
      }
    }
  }
}

// REQUIRES: the caller is a reader.
void VectorColumn::score(const float* query, std::span<const std::uint32_t> rows,
                         std::span<double> cosines) const {
  const VectorLoops& loops = vector_loops();
  std::array<const float*, kGroup> vectors;
  std::array<std::uint32_t, kGroup> places;
  std::array<float, kGroup> products;
  for (std::size_t begin = 0; begin < rows.size(); begin += kGroup) {
    const std::size_t size = std::min(kGroup, rows.size() - begin);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const float* const vector = at(rows[begin + i]);
      cosines[begin + i] = std::numeric_limits<double>::quiet_NaN();
      if (vector != nullptr) {
        vectors[count] = vector;
        places[count++] = static_cast<std::uint32_t>(i);
      }
    }
    loops.products(query, vectors.data(), count, width_, products.data());
    for (std::size_t i = 0; i < count; ++i) {
      cosines[begin + places[i]] = static_cast<double>(products[i]);
    }
  }
}

void VectorColumn::cosines(std::span<const float> query, std::span<const std::uint32_t> rows,
                           std::span<double> cosines) const {
  require_size(query.size(), dimension_);
  assert(cosines.size() == rows.size());
  const PaddedQuery padded(query, width_);
  for (std::size_t begin = 0; begin < rows.size(); begin += kMostScored) {
    const std::size_t size = std::min(rows.size() - begin, kMostScored);
    const auto lock = shared();
    score(padded.data(), rows.subspan(begin, size), cosines.subspan(begin, size));
  }
}

void VectorColumn::Reader::cosines(std::span<const float> query,
                                   std::span<const std::uint32_t> rows,
                                   std::span<double> cosines) const {
  require_size(query.size(), column_.dimension_);
  assert(cosines.size() == rows.size());
  column_.score(PaddedQuery(query, column_.width_).data(), rows, cosines);
}

// One pass for a tile of queries. What it lists is scored once it is kFewestListed rows, so that
// few rows out of many blocks are scored together.
class VectorColumn::Scan {
 public:
  Scan(const VectorColumn& column, const VectorRows& chosen, std::span<const float* const> queries,
       std::span<lexical::TopK> best)
      : column_(column), chosen_(chosen), queries_(queries), best_(best) {}

  // Offers rows to the heap of each query.
  void run(std::span<const std::uint32_t> listed) {
    for (std::size_t begin = 0; begin < listed.size(); begin += kFewestListed) {
      const auto lock = column_.shared();
      for (const std::uint32_t row :
           listed.subspan(begin, std::min(kFewestListed, listed.size() - begin))) {
        const float* const vector = column_.at(row);
        if (vector != nullptr) {
          rows_[count_] = row;
          vectors_[count_++] = vector;
        }
      }
      score_listed();
    }
  }

  // Offers every chosen row to the heap of each query.
  void run() {
    auto lock = column_.shared();
    std::size_t scored = 0;
    for (std::size_t number = 0; number < column_.block_end_.load(std::memory_order_acquire);
         ++number) {
      list(number);
      if (count_ < kFewestListed) {
        continue;
      }
      scored += count_ * queries_.size();
      score_listed();
      if (scored >= kMostScored) {
        lock.unlock();
        pause_here();
        lock = column_.shared();
        scored = 0;
      }
    }
    score_listed();
  }

 private:
  static constexpr std::size_t kFewestListed = 256;

  void list(std::size_t number) noexcept {
    for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
      std::uint64_t bits = column_.chosen_of(number, word, chosen_);
      if (bits == 0) {
        continue;
      }
      const float* const values = column_.block_of(number)->values() + word * 64 * column_.width_;
      const auto first = static_cast<std::uint32_t>(number * kRowsOfBlock + word * 64);
      for (; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
        rows_[count_] = first + bit;
        vectors_[count_++] = values + bit * column_.width_;
      }
    }
  }

  // A few vectors at a time for all queries, so that both stay in the first cache.
  void score_listed() {
    const std::size_t most = queries_.size() == 1 ? count_ : kVectorsOfTile;
    for (std::size_t begin = 0; begin < count_; begin += most) {
      const std::size_t size = std::min(most, count_ - begin);
      for (std::size_t i = 0; i < queries_.size(); ++i) {
        loops_.products(queries_[i], &vectors_[begin], size, column_.width_, products_.data());
        offer(std::span(&rows_[begin], size), best_[i]);
      }
    }
    count_ = 0;
  }

  void offer(std::span<const std::uint32_t> rows, lexical::TopK& best) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto score = static_cast<double>(products_[i]);
      if (score >= best.threshold()) {  // a NaN is not
        best.offer({score, rows[i]});
      }
    }
  }

  const VectorColumn& column_;
  const VectorRows& chosen_;
  const std::span<const float* const> queries_;
  const std::span<lexical::TopK> best_;
  const VectorLoops& loops_ = vector_loops();
  std::size_t count_ = 0;
  std::array<std::uint32_t, kFewestListed + kRowsOfBlock> rows_;
  std::array<const float*, kFewestListed + kRowsOfBlock> vectors_;
  std::array<float, kFewestListed + kRowsOfBlock> products_;
};

std::vector<lexical::Hit> VectorColumn::nearest(std::span<const float> query, std::size_t k,
                                                const VectorRows& chosen,
                                                std::span<const std::uint32_t> listed) const {
  require_size(query.size(), dimension_);
  if (k == 0) {
    return {};
  }
  const PaddedQuery padded(query, width_);
  const float* const data = padded.data();
  lexical::TopK best(k);
  Scan scan(*this, chosen, std::span(&data, 1), std::span(&best, 1));
  scan.run(listed);
  scan.run();
  return best.take();
}

std::vector<std::vector<lexical::Hit>> VectorColumn::nearest_many(std::span<const float> queries,
                                                                  std::size_t k,
                                                                  const VectorRows& chosen,
                                                                  std::size_t threads) const {
  if (queries.size() % dimension_ != 0) {
    throw std::invalid_argument("queries: expected a multiple of " + std::to_string(dimension_) +
                                " components, got " + std::to_string(queries.size()));
  }
  if (threads == 0) {
    throw std::invalid_argument("threads: must be >= 1, got 0");
  }
  const std::size_t count = queries.size() / dimension_;
  std::vector<std::vector<lexical::Hit>> found(count);
  if (k == 0) {
    return found;
  }
  const std::size_t grain = std::clamp<std::size_t>(count / threads, 1, kQueriesOfTile);
  for_each_chunk(count, threads, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<PaddedQuery> padded;
    std::vector<const float*> data;
    std::vector<lexical::TopK> best;
    padded.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      data.push_back(
          padded.emplace_back(queries.subspan(i * dimension_, dimension_), width_).data());
      best.emplace_back(k);
    }
    Scan(*this, chosen, data, best).run();
    for (std::size_t i = begin; i < end; ++i) {
      found[i] = best[i - begin].take();
    }
  });
  return found;
}

}  // namespace oneiros
