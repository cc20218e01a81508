// Storage: blocks of 512 rows, each vector at its row's place, so that scans read memory
// sequentially. A table of pointers leads to the blocks; table and blocks are reserved addresses,
// so that a sparse column uses few pages. One bit per row says whether it has a vector. A writer
// fills a row that no reader accesses and sets its bit afterwards, so new rows need no lock;
// replacing and removing exclude readers. Readers release the lock every few thousand rows, which
// bounds a writer's wait.
//
// nearest() lists the chosen rows in batches and screens each: the upper halves of their codes, an
// eighth of the memory of the vectors, give about the product and an upper bound
// (vector_codes.cpp). All rows that were screened while the lock was held are then looked at
// together. The codes of those with the best products give lower bounds, of which the k-th best is
// a threshold. Rows whose upper bound is below it are dropped; the whole codes of the others give
// narrow bounds, by which most are dropped again. What is left, little more than k rows, is scored
// by its vectors before the lock is given back, since a writer may then change them. Every result
// row is among them (a bound fails once in 2^46 times), so the result has the same rows and bits
// as without codes. This is the VA-file search (Weber, Schek, Blott: "A Quantitative Analysis and
// Performance Study for Similarity-Search Methods in High-Dimensional Spaces", VLDB 1998), with two
// approximations. nearest_many() uses no codes: it scores a tile of queries while a block is in the
// cache.
//
// Invariants: a row's has_code bit is set only if its code matches its vector. Readers create
// codes, one reader at a time per block, while others score the vectors. Writers drop the code of a
// row they replace or remove, and create none. A block is encoded once scans have spent as much
// time on rows without a code as encoding would take, so a process that runs one query creates no
// codes. All codes of a column have one quantizer, which never changes.
//
// Cost: a pass over half of the codes of the chosen rows, the other half of a twentieth to a fifth
// of them, and the vectors of little more than k rows. Among 100,000 vectors of 384 components,
// half a code takes 4 ns, listing its row 1, and all of it 9 a row for a third of the rows, 15 for
// a fifteenth. Where codes come from a slow memory, 70 and more: they are asked for while rows are
// listed, which takes a fifth less than to list first. A vector takes 15 ns in the first-level
// cache and 150 alone in memory.
#include "columns/vector_column.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "threads/for_each_chunk.h"
#include "threads/pause.h"

namespace oneiros {

namespace {

constexpr std::size_t kRowEnd = std::size_t{1} << 32;
constexpr std::size_t kMostScored = 4'096;  // vectors between two releases of the lock
constexpr std::size_t kQueriesOfTile = 16;
constexpr std::size_t kVectorsOfTile = 8;
constexpr std::size_t kGroup = 64;  // rows looked up before they are scored
// The least number of rows, and of rows per result, for which codes pay off.
constexpr std::size_t kFewestCoded = 256;
constexpr std::size_t kFewestOfResult = 6;
constexpr std::size_t kRowsOfCenter = kFewestCoded;
constexpr std::size_t kMissesOfCode = 2;  // vectors scored in the time of encoding one
constexpr std::size_t kMostEncoded = 4;   // blocks between two releases of the lock

// A query padded with zeros; refers to the original if that needs no padding.
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

// The 64 bits of the rows from `word` * 64 on.
std::uint64_t word_of(RowBits bits, std::size_t word) noexcept {
  const std::size_t begin = word * 8;
  std::uint64_t found = 0;
  if (begin + 8 <= bits.size()) {
    std::memcpy(&found, bits.data() + begin, 8);  // of a known size: one load
  } else if (begin < bits.size()) {
    std::memcpy(&found, bits.data() + begin, std::min<std::size_t>(8, bits.size() - begin));
  }
  return found;
}

// The 64 bits of the chosen rows from `word` * 64 on, with a vector or not.
std::uint64_t wanted_of(std::size_t word, const VectorRows& chosen) noexcept {
  const std::uint64_t allowed = chosen.allowed ? word_of(*chosen.allowed, word) : ~std::uint64_t{0};
  return allowed & ~word_of(chosen.minus, word);
}

// Asks for a line of the cache, into the second level.
void prefetch_line(const void* address) noexcept { __builtin_prefetch(address, 0, 2); }

// Holds a flag unless another thread holds it.
class Claim {
 public:
  explicit Claim(std::atomic_flag& flag)
      : flag_(flag), is_mine_(!flag.test_and_set(std::memory_order_acquire)) {}
  ~Claim() {
    if (is_mine_) {
      flag_.clear(std::memory_order_release);
    }
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  [[nodiscard]] explicit operator bool() const noexcept { return is_mine_; }

 private:
  std::atomic_flag& flag_;
  const bool is_mine_;
};

std::size_t positive(std::size_t dimension) {
  if (dimension == 0) {
    throw std::invalid_argument("dimension: must be >= 1, got 0");
  }
  return dimension;
}

void require_size(std::size_t size, std::size_t dimension) {
  if (size != dimension) {
    throw std::invalid_argument("query: expected " + std::to_string(dimension) +
                                " components, got " + std::to_string(size));
  }
}

void offer(std::span<const std::uint32_t> rows, std::span<const float> products,
           lexical::TopK& best) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto score = static_cast<double>(products[i]);
    if (score >= best.threshold()) {  // false for NaN
      best.offer({score, rows[i]});
    }
  }
}

}  // namespace

VectorColumn::VectorColumn(std::size_t dimension)
    : dimension_(positive(dimension)),
      width_(padded_width(dimension)),
      code_memory_(VectorCodes::bytes_of_halves(kRowsOfBlock, width_)) {
  table_ = AddressRange(kRowEnd / kRowsOfBlock * sizeof(BlockPlace));
}

VectorColumn::~VectorColumn() {
  for (std::size_t number = 0; number < block_end_; ++number) {
    delete places()[number].load(std::memory_order_relaxed);
  }
  delete quantizer_.load(std::memory_order_relaxed);
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
      table_.open((number + 1) * sizeof(BlockPlace));  // zero bytes: no block
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

// The quantizer of all codes: made once, of some of the first rows that are searched by codes.
const ScalarQuantizer& VectorColumn::quantizer_of(std::span<const float* const> rows) const {
  const ScalarQuantizer* quantizer = quantizer_.load(std::memory_order_acquire);
  if (quantizer == nullptr) {
    std::vector<const float*> sample;
    for (std::size_t i = 0; i < kRowsOfCenter; ++i) {
      sample.push_back(rows[i * rows.size() / kRowsOfCenter]);
    }
    auto made = std::make_unique<ScalarQuantizer>(sample, width_);
    if (quantizer_.compare_exchange_strong(quantizer, made.get(), std::memory_order_acq_rel)) {
      quantizer = made.release();
    }
  }
  return *quantizer;
}

// Encodes the rows of a block without a code, once scoring them, including `missed` now, has taken
// as long as encoding. Returns true if it encoded any. REQUIRES: the caller holds readers_ shared.
bool VectorColumn::encode_if_due(Block& block, std::size_t missed,
                                 const ScalarQuantizer& quantizer) const {
  missed += block.missed_codes.fetch_add(missed, std::memory_order_relaxed);
  const auto without_code = [&](std::size_t word) {
    return block.has_vector[word].load(std::memory_order_acquire) &
           ~block.has_code[word].load(std::memory_order_relaxed);
  };
  std::size_t count = 0;
  for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
    count += static_cast<std::size_t>(std::popcount(without_code(word)));
  }
  if (missed < kMissesOfCode * count) {
    return false;
  }
  // If a fork happens while another thread holds the claim, the child never encodes this block
  // again: rows without a code are scored by their vectors.
  const Claim claim(block.is_encoding);
  if (!claim) {
    return false;
  }
  if (!block.codes) {
    block.codes = std::make_unique<VectorCodes>(kRowsOfBlock, width_, code_memory_);
  }
  for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
    const std::uint64_t rows = without_code(word);
    for (std::uint64_t bits = rows; bits != 0; bits &= bits - 1) {
      const std::size_t place = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      block.codes->encode(place, block.values() + place * width_, quantizer);
    }
    block.has_code[word].fetch_or(rows, std::memory_order_release);
    resident_bytes_.fetch_add(
        static_cast<std::size_t>(std::popcount(rows)) * VectorCodes::bytes_of_code(width_),
        std::memory_order_relaxed);
  }
  block.missed_codes.store(0, std::memory_order_relaxed);
  return true;
}

// REQUIRES: the row has no code, or readers are excluded.
void VectorColumn::drop_code(Block& block, std::size_t place) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (place % 64);
  if ((block.has_code[place / 64].load(std::memory_order_relaxed) & bit) != 0) {
    block.has_code[place / 64].fetch_and(~bit, std::memory_order_relaxed);
    block.codes->wipe(place);
    resident_bytes_.fetch_sub(VectorCodes::bytes_of_code(width_), std::memory_order_relaxed);
  }
}

// REQUIRES: open() was called; the row has no vector, or readers are excluded.
void VectorColumn::put(std::uint32_t row, const float* vector) noexcept {
  Block& block = *block_of(row / kRowsOfBlock);
  const std::size_t place = row % kRowsOfBlock;
  drop_code(block, place);
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

// REQUIRES: readers are excluded.
bool VectorColumn::take(std::uint32_t row) noexcept {
  Block* const block = block_of(row / kRowsOfBlock);
  const std::size_t place = row % kRowsOfBlock;
  const std::uint64_t bit = std::uint64_t{1} << (place % 64);
  if (block == nullptr ||
      (block->has_vector[place / 64].fetch_and(~bit, std::memory_order_relaxed) & bit) == 0) {
    return false;
  }
  drop_code(*block, place);
  std::fill_n(block->values() + place * width_, dimension_, 0.0F);
  --block->count;
  count_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// Frees the memory of empty blocks among those of the rows. REQUIRES: readers are excluded.
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
  // Nothing below throws.
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
      take(rows[i]);  // only with readers excluded, if the row has a vector
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
  const std::uint64_t wanted = wanted_of(number * kWordsOfBlock + word, chosen);
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

// True if at least `fewest` of the chosen rows have a vector.
bool VectorColumn::has_rows(const VectorRows& chosen, std::size_t fewest) const {
  const auto lock = shared();
  std::size_t found = 0;
  const std::size_t word_end = block_end_.load(std::memory_order_acquire) * kWordsOfBlock;
  for (std::size_t word = 0; found < fewest && word < word_end; ++word) {
    found += static_cast<std::size_t>(
        std::popcount(chosen_of(word / kWordsOfBlock, word % kWordsOfBlock, chosen)));
  }
  return found >= fewest;
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

// REQUIRES: the caller holds readers_ shared.
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

// One pass over vectors for a tile of queries. Rows are listed first and scored in batches, so that
// few rows from many blocks are scored together.
class VectorColumn::Scan {
 public:
  Scan(const VectorColumn& column, std::span<const float* const> queries,
       std::span<lexical::TopK> best)
      : column_(column), queries_(queries), best_(best) {}

  // Offers listed rows to each query's heap.
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

  // Offers every chosen row to each query's heap.
  void run(const VectorRows& chosen) {
    auto lock = column_.shared();
    std::size_t scored = 0;
    for (std::size_t number = 0; number < column_.block_end_.load(std::memory_order_acquire);
         ++number) {
      list(number, chosen);
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
  static constexpr std::size_t kMostListed = kFewestListed + kRowsOfBlock;

  void list(std::size_t number, const VectorRows& chosen) noexcept {
    for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
      std::uint64_t bits = column_.chosen_of(number, word, chosen);
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

  // A few vectors at a time for all queries, so that both stay in the first-level cache.
  void score_listed() {
    const std::size_t most = queries_.size() == 1 ? count_ : kVectorsOfTile;
    for (std::size_t begin = 0; begin < count_; begin += most) {
      const std::size_t size = std::min(most, count_ - begin);
      for (std::size_t i = 0; i < queries_.size(); ++i) {
        loops_.products(queries_[i], &vectors_[begin], size, column_.width_, products_.data());
        offer(std::span(&rows_[begin], size), std::span(products_).first(size), best_[i]);
      }
    }
    count_ = 0;
  }

  const VectorColumn& column_;
  const std::span<const float* const> queries_;
  const std::span<lexical::TopK> best_;
  const VectorLoops& loops_ = vector_loops();
  std::size_t count_ = 0;
  std::array<std::uint32_t, kMostListed> rows_;
  std::array<const float*, kMostListed> vectors_;
  std::array<float, kMostListed> products_;
};

// A pass for one query, over the codes of rows that have one. Rows are listed and screened in
// batches. All that were screened while the lock was held are then looked at together: those that
// can be among the best are scored.
class VectorColumn::CodedScan {
 public:
  // `best` is the query's heap, which may hold hits.
  CodedScan(const VectorColumn& column, const float* query, lexical::TopK& best)
      : column_(column),
        data_(query),
        best_(best),
        block_end_(column.block_end_.load(std::memory_order_acquire)),
        no_code_(lines_of(column.width_) * kBytesOfLine),
        fewest_of_batch_(std::clamp(kBytesOfBatch / no_code_.size(), kFewestOfBatch,
                                    kMostOfBatch - kRowsOfBlock)) {
    const std::size_t most = std::min(block_end_ * kRowsOfBlock, kMostScreened);
    places_ = std::make_unique_for_overwrite<std::uint32_t[]>(most + kPlacesBeyond);
    rows_ = std::make_unique_for_overwrite<std::uint32_t[]>(most);
    near_ = std::make_unique_for_overwrite<float[]>(most);
    most_ = std::make_unique_for_overwrite<float[]>(most);
  }

  // Offers every chosen row to the heap. Returns false, having done nothing, if products with the
  // query cannot be bounded, or if there is no row.
  bool run(const VectorRows& chosen) {
    auto lock = column_.shared();
    const ScalarQuantizer* const of_column = this->quantizer(chosen);
    if (of_column == nullptr) {
      return false;
    }
    const ScalarQuantizer& quantizer = *of_column;
    const EncodedQuery query(std::span(data_, column_.width_), quantizer);
    if (!query.has_bounds()) {
      return false;
    }
    std::size_t number = 0;
    while (collect(chosen, number)) {
      for (std::size_t place = 0; place < collected_; ++place) {
        prefetch(place);
        list(blocks_[place], chosen);
        if (batch_ < fewest_of_batch_) {
          continue;
        }
        screen(query);
        if (screened_ / kCodesOfVector + missed_ < kMostScored) {
          continue;
        }
        finish(query, quantizer);
        lock.unlock();
        pause_here();
        lock = column_.shared();
      }
    }
    finish(query, quantizer);
    return true;
  }

 private:
  static constexpr std::size_t kCodesOfVector = 8;  // screened in the time of a vector
  // The rows of a batch, but for the last block's: their halves fit the second-level cache.
  static constexpr std::size_t kBytesOfBatch = 192 * 1'024;
  static constexpr std::size_t kFewestOfBatch = 128;
  static constexpr std::size_t kMostOfBatch = 2'048 + kRowsOfBlock;
  static constexpr std::size_t kBlocks = 256;     // that are collected at a time
  static constexpr std::size_t kBlocksAhead = 4;  // between prefetches that lead to each other
  static constexpr std::size_t kMostScreened = kCodesOfVector * kMostScored + kMostOfBatch;
  static constexpr std::size_t kSample = 512;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  // The column's quantizer, which the first scan makes of some of its rows; null if it has none.
  const ScalarQuantizer* quantizer(const VectorRows& chosen) {
    const ScalarQuantizer* const quantizer = column_.quantizer_.load(std::memory_order_acquire);
    if (quantizer != nullptr) {
      return quantizer;
    }
    std::vector<const float*> vectors;
    for (std::size_t word = 0; word < block_end_ * kWordsOfBlock && vectors.size() < kMostScored;
         ++word) {
      std::uint64_t bits = column_.chosen_of(word / kWordsOfBlock, word % kWordsOfBlock, chosen);
      for (; bits != 0; bits &= bits - 1) {
        vectors.push_back(column_.at(static_cast<std::uint32_t>(word * 64) +
                                     static_cast<std::uint32_t>(std::countr_zero(bits))));
      }
    }
    return vectors.empty() ? nullptr : &column_.quantizer_of(vectors);
  }

  // A block, some rows of which are chosen.
  struct Place {
    std::uint32_t number;
    std::uint32_t words;  // a bit for each that has some of them
  };

  // Finds the next blocks with chosen rows from the `number`-th on, which it moves beyond them.
  // Returns false if there are none.
  bool collect(const VectorRows& chosen, std::size_t& number) noexcept {
    collected_ = 0;
    for (; number < block_end_ && collected_ < kBlocks; ++number) {
      if (column_.block_of(number) == nullptr) {
        continue;
      }
      std::uint32_t words = 0;
      for (std::size_t word = 0; word < kWordsOfBlock; ++word) {
        words |= (wanted_of(number * kWordsOfBlock + word, chosen) != 0 ? 1U : 0U) << word;
      }
      if (words != 0) {
        blocks_[collected_++] = {static_cast<std::uint32_t>(number), words};
      }
    }
    return collected_ != 0;
  }

  // Asks for what list() will read of later blocks: bits, then the codes that they lead to, then
  // the steps of these. To wait for one after the other takes a third as long as to read the codes.
  void prefetch(std::size_t place) const noexcept {
    if (const Block* const block = block_ahead(place + 3 * kBlocksAhead)) {
      prefetch_line(block->has_vector.data());
      prefetch_line(block->has_code.data());
      prefetch_line(&block->codes);
    }
    if (const VectorCodes* const codes = codes_ahead(place + 2 * kBlocksAhead)) {
      prefetch_line(codes);
    }
    if (const VectorCodes* const codes = codes_ahead(place + kBlocksAhead)) {
      for (std::uint32_t left = blocks_[place + kBlocksAhead].words; left != 0; left &= left - 1) {
        codes->prefetch_steps(static_cast<std::size_t>(std::countr_zero(left)) * 64, 64);
      }
    }
  }

  [[nodiscard]] const Block* block_ahead(std::size_t place) const noexcept {
    return place < collected_ ? column_.block_of(blocks_[place].number) : nullptr;
  }

  // Null if the first word with chosen rows has no codes.
  [[nodiscard]] const VectorCodes* codes_ahead(std::size_t place) const noexcept {
    const Block* const block = block_ahead(place);
    if (block == nullptr) {
      return nullptr;
    }
    const auto word = static_cast<std::size_t>(std::countr_zero(blocks_[place].words));
    return block->has_code[word].load(std::memory_order_acquire) == 0 ? nullptr
                                                                      : block->codes.get();
  }

  // Lists the chosen rows of a block, and asks for their codes.
  void list(const Place& place, const VectorRows& chosen) noexcept {
    const Block* const of_rows = column_.block_of(place.number);
    if (of_rows == nullptr) {
      return;
    }
    const Block& block = *of_rows;
    const std::size_t bytes = no_code_.size();
    for (std::uint32_t words = place.words; words != 0; words &= words - 1) {
      const auto word = static_cast<std::size_t>(std::countr_zero(words));
      const std::size_t number = place.number * kWordsOfBlock + word;
      const std::uint64_t bits =
          wanted_of(number, chosen) & block.has_vector[word].load(std::memory_order_acquire);
      const auto first = static_cast<std::uint32_t>(number * 64);
      const std::uint64_t coded = bits & block.has_code[word].load(std::memory_order_acquire);
      if (coded != 0) {
        const VectorCodes& codes = *block.codes;
        longest_ = std::max(longest_, codes.longest());
        for (std::uint64_t left = coded; left != 0; left &= left - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(left));
          const std::uint8_t* const upper = codes.upper(word * 64 + bit);
          for (std::size_t line = 0; line < bytes; line += kBytesOfLine) {
            prefetch_line(upper + line);
          }
          add(first + static_cast<std::uint32_t>(bit), upper, codes.step(word * 64 + bit));
        }
      }
      for (std::uint64_t left = bits & ~coded; left != 0; left &= left - 1) {
        add(first + static_cast<std::uint32_t>(std::countr_zero(left)), no_code_.data(), 0);
        ++missed_;
      }
    }
  }

  void add(std::uint32_t row, const std::uint8_t* upper, float step) noexcept {
    rows_[screened_ + batch_] = row;
    halves_[batch_] = upper;
    steps_[batch_] = step;
    ++batch_;
  }

  // Screens the rows of the batch.
  void screen(const EncodedQuery& query) noexcept {
    query.screen(listed(batch_), {&near_[screened_], batch_}, {&most_[screened_], batch_});
    screened_ += batch_;
    batch_ = 0;
  }

  // Screens what is left, and scores what can be among the best.
  void finish(const EncodedQuery& query, const ScalarQuantizer& quantizer) {
    screen(query);
    score_near(query);
    if (missed_ != 0) {
      encode_due(quantizer);
    }
    screened_ = 0;
    missed_ = 0;
  }

  // Encodes some of the blocks with rows that were listed without a code, none of which was
  // dropped.
  void encode_due(const ScalarQuantizer& quantizer) {
    std::size_t encoded_blocks = 0;
    for (std::size_t i = 0; i < screened_ && encoded_blocks < kMostEncoded;) {
      Block& block = *column_.block_of(rows_[i] / kRowsOfBlock);
      std::size_t missed = 0;
      for (const std::size_t number = rows_[i] / kRowsOfBlock;
           i < screened_ && rows_[i] / kRowsOfBlock == number; ++i) {
        missed += most_[i] == kInfinity ? 1U : 0U;
      }
      if (missed != 0 && column_.encode_if_due(block, missed, quantizer)) {
        ++encoded_blocks;
      }
    }
  }

  // Scores the screened rows that can be among the best, and drops the others.
  void score_near(const EncodedQuery& query) {
    const double threshold = std::max(best_.threshold(), likely_threshold(query));
    keep(threshold);
    if (screened_ > best_.k()) {
      least_.resize(screened_);
      refine(query, {&rows_[0], screened_}, {&near_[0], screened_}, least_, {&most_[0], screened_});
      keep(threshold);
    }
    score();
  }

  // A lower bound that k rows have, and few more do; minus infinity if there is none. It is found
  // among the rows with the best products by the upper halves.
  [[nodiscard]] double likely_threshold(const EncodedQuery& query) {
    likely_.clear();
    likely_near_.clear();
    likely_most_.clear();
    for (const std::uint32_t place : places_above(near_.get(), likely_product())) {
      if (most_[place] != kInfinity) {
        likely_.push_back(rows_[place]);
        likely_near_.push_back(near_[place]);
        likely_most_.push_back(most_[place]);
      }
    }
    if (likely_.size() < best_.k()) {
      return -std::numeric_limits<double>::infinity();
    }
    least_.resize(likely_.size());
    refine(query, likely_, likely_near_, least_, likely_most_);
    return static_cast<double>(best_of(least_, best_.k()));
  }

  // A product that at least k rows reach by the upper halves, and not many more do; infinite if
  // there is none. By a sample: it would take longer to find the k-th best of all.
  [[nodiscard]] double likely_product() {
    const std::size_t step = screened_ / kSample + 1;
    const double wanted = static_cast<double>(best_.k()) / static_cast<double>(step);
    sample_.clear();
    for (std::size_t i = 0; i < screened_; i += step) {
      sample_.push_back(near_[i]);
    }
    for (auto place = static_cast<std::size_t>(wanted + 2 * std::sqrt(wanted)) + 1;
         place <= sample_.size(); place *= 2) {
      const float product = best_of(sample_, place);
      unsigned count = 0;
      for (std::size_t i = 0; i < screened_; ++i) {
        count += near_[i] >= product ? 1U : 0U;
      }
      if (count >= best_.k()) {
        return static_cast<double>(product);
      }
    }
    return std::numeric_limits<double>::infinity();
  }

  // The best of the values, counted from 1. Changes their order.
  [[nodiscard]] static float best_of(std::vector<float>& values, std::size_t place) {
    const auto it = values.begin() + static_cast<std::ptrdiff_t>(place - 1);
    std::ranges::nth_element(values, it, std::ranges::greater{});
    return *it;
  }

  // Finds narrow bounds of rows, from what screening found. Those without an upper bound get none:
  // a code that they have was written later.
  void refine(const EncodedQuery& query, std::span<const std::uint32_t> rows,
              std::span<const float> near, std::span<float> least, std::span<float> most) noexcept {
    for (std::size_t begin = 0; begin < rows.size(); begin += kMostOfBatch) {
      const std::size_t size = std::min(rows.size() - begin, kMostOfBatch);
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t row = rows[begin + i];
        const std::size_t place = row % kRowsOfBlock;
        const VectorCodes* const codes = most[begin + i] == kInfinity
                                             ? nullptr
                                             : column_.block_of(row / kRowsOfBlock)->codes.get();
        halves_[i] = codes == nullptr ? no_code_.data() : codes->lower(place);
        steps_[i] = codes == nullptr ? 0 : codes->step(place);
      }
      query.refine(listed(size), near.subspan(begin, size), least.subspan(begin, size),
                   most.subspan(begin, size));
    }
  }

  [[nodiscard]] ListedHalves listed(std::size_t count) const noexcept {
    return {std::span(halves_).first(count), std::span(steps_).first(count), longest_};
  }

  // The places of the screened rows whose value reaches the bound. Valid until the next call.
  [[nodiscard]] std::span<const std::uint32_t> places_above(const float* values, double bound) {
    return {&places_[0], loops_.select(values, screened_, static_cast<float>(bound), &places_[0])};
  }

  // Drops the rows with an upper bound below the threshold, which is one of a float.
  void keep(double threshold) {
    std::size_t count = 0;
    for (const std::uint32_t place : places_above(most_.get(), threshold)) {
      rows_[count] = rows_[place];
      near_[count] = near_[place];
      most_[count++] = most_[place];
    }
    screened_ = count;
  }

  // Scores the rows that are left.
  void score() {
    std::array<const float*, kMostOfBatch> vectors;
    for (std::size_t begin = 0; begin < screened_; begin += kMostOfBatch) {
      const std::span<const std::uint32_t> rows(&rows_[begin],
                                                std::min(screened_ - begin, kMostOfBatch));
      std::ranges::transform(rows, vectors.begin(),
                             [&](std::uint32_t row) { return column_.at(row); });
      loops_.products(data_, vectors.data(), rows.size(), column_.width_, &near_[begin]);
      offer(rows, {&near_[begin], rows.size()}, best_);
    }
  }

  const VectorColumn& column_;
  const float* const data_;  // of the query
  lexical::TopK& best_;
  const std::size_t block_end_;
  const std::vector<std::uint8_t> no_code_;
  const std::size_t fewest_of_batch_;
  const VectorLoops& loops_ = vector_loops();
  std::array<Place, kBlocks> blocks_;
  std::size_t collected_ = 0;
  std::size_t screened_ = 0;               // rows since the lock was taken
  std::size_t missed_ = 0;                 // rows without a code, since then
  std::unique_ptr<std::uint32_t[]> rows_;  // the screened ones, then the batch
  std::unique_ptr<float[]> near_;          // their products, nearly
  std::unique_ptr<float[]> most_;          // their upper bounds
  std::unique_ptr<std::uint32_t[]> places_;
  std::size_t batch_ = 0;                                 // rows that are listed and not screened
  std::array<const std::uint8_t*, kMostOfBatch> halves_;  // of codes that are read together
  std::array<float, kMostOfBatch> steps_;
  float longest_ = 0;                  // see VectorCodes, of the blocks that were read
  std::vector<float> sample_;          // some of near_
  std::vector<std::uint32_t> likely_;  // rows
  std::vector<float> likely_near_;
  std::vector<float> likely_most_;
  std::vector<float> least_;  // lower bounds
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
  if (!listed.empty()) {
    Scan(*this, std::span(&data, 1), std::span(&best, 1)).run(listed);
  }
  const bool has_use_of_codes = k <= count() / kFewestOfResult &&
                                has_rows(chosen, std::max(kFewestCoded, kFewestOfResult * k));
  if (!has_use_of_codes || !CodedScan(*this, data, best).run(chosen)) {
    Scan(*this, std::span(&data, 1), std::span(&best, 1)).run(chosen);
  }
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
    Scan(*this, data, best).run(chosen);
    for (std::size_t i = begin; i < end; ++i) {
      found[i] = best[i - begin].take();
    }
  });
  return found;
}

}  // namespace oneiros
