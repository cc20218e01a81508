// Whole vectors (float32), one row a memory: exact cosines and exact nearest rows.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "columns/address_range.h"
#include "columns/vector_codes.h"
#include "columns/vector_loops.h"
#include "lexical/search/top_k.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

// Packed bits of rows, bit r % 8 of byte r / 8 for row r; rows past the last byte are not in it.
using RowBits = std::span<const std::uint8_t>;

[[nodiscard]] constexpr bool has_bit(RowBits bits, std::size_t place) noexcept {
  return place / 8 < bits.size() && ((bits[place / 8] >> (place % 8)) & 1U) != 0;
}

// The rows that a search may return: those of `allowed` (none given: all) that are not in `minus`.
struct VectorRows {
  std::optional<RowBits> allowed = {};
  RowBits minus = {};
};

// Vectors of one width by row, in blocks of memory that never move; a row may have none. A zero
// vector has no direction and stands for none. Vectors of unit length have inner products that are
// cosines; the column takes any, and calls the products cosines all the same.
// A product has the same bits wherever it is computed (see vector_loops.h). Components should be
// finite: a product of NaN reads as if the row had no vector.
// Thread-safe. Giving vectors to rows without one neither waits for readers nor makes them wait;
// replacing and removing wait for the readers of the moment, at most a few thousand rows' scoring.
// A search sees each row whole, as it was before a write or after. Survives a fork: a child goes on
// with the rows of its parent.
class VectorColumn {
 public:
  // Throws std::invalid_argument unless dimension >= 1, std::bad_alloc when the system refuses
  // addresses.
  explicit VectorColumn(std::size_t dimension);
  ~VectorColumn();
  VectorColumn(const VectorColumn&) = delete;
  VectorColumn& operator=(const VectorColumn&) = delete;

  [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
  // Rows that have a vector.
  [[nodiscard]] std::size_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }
  // Memory held by vectors and their codes, room for more left out.
  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return resident_bytes_.load(std::memory_order_relaxed);
  }

  // Gives rows[i] the vector vectors[i * dimension() ...], in place of what it had; a zero vector
  // takes the row's vector away. Of a row given twice the last wins. Returns how many of those
  // given are not zero. Throws std::invalid_argument for another length, std::bad_alloc; nothing
  // has changed then.
  std::size_t write(std::span<const std::uint32_t> rows, std::span<const float> vectors);

  // Takes the vectors of rows away and wipes them; a row without one is passed over. Returns how
  // many were taken.
  std::size_t remove(std::span<const std::uint32_t> rows);

  [[nodiscard]] bool has(std::uint32_t row) const noexcept;
  // The rows that have a vector, of those chosen, ascending; and their number.
  [[nodiscard]] std::vector<std::uint32_t> rows(const VectorRows& chosen = {}) const;
  [[nodiscard]] std::size_t count(const VectorRows& chosen) const;

  // Copies the vectors of rows out, one after the other; zeros where a row has none.
  // REQUIRES: vectors.size() == rows.size() * dimension().
  void reconstruct(std::span<const std::uint32_t> rows, std::span<float> vectors) const;

  // The cosine of each row with the query, NaN where a row has no vector. Throws
  // std::invalid_argument for a query of another size. REQUIRES: cosines.size() == rows.size().
  void cosines(std::span<const float> query, std::span<const std::uint32_t> rows,
               std::span<double> cosines) const;

  // The k rows nearest to the query of those chosen and of those `listed`: higher cosine first,
  // then the smaller row; fewer only if no more have a vector. One pass over these rows; of many,
  // over their codes, which earlier passes made. Calls pause_here(). Throws std::invalid_argument
  // for a query of another size. REQUIRES: no row is listed twice, or chosen and listed.
  [[nodiscard]] std::vector<lexical::Hit> nearest(std::span<const float> query, std::size_t k,
                                                  const VectorRows& chosen = {},
                                                  std::span<const std::uint32_t> listed = {}) const;

  // nearest() of each query, one list a query, on at most `threads` threads. Several queries share
  // a pass. Throws std::invalid_argument unless the components are a multiple of dimension(), and
  // for no thread.
  [[nodiscard]] std::vector<std::vector<lexical::Hit>> nearest_many(std::span<const float> queries,
                                                                    std::size_t k,
                                                                    const VectorRows& chosen,
                                                                    std::size_t threads) const;

  // The sections of the vectors, to be written while this lives and no vector changes; and back:
  // mapped, the blocks' checksums compared by so many threads. Vectors that change leave the file
  // as it is. restored() throws SnapshotDamaged unless they are as they were written.
  class Image;
  [[nodiscard]] static std::shared_ptr<VectorColumn> restored(const SnapshotReader& snapshot,
                                                              std::size_t threads);

  // Keeps what is read in place while it lives. A thread that has one calls no other method of the
  // column but through it.
  class Reader {
   public:
    explicit Reader(const VectorColumn& column) : lock_(column.shared()), column_(column) {}
    // The dimension() components of a row's vector, zeros behind them up to padded_width(); null:
    // the row has none. Valid as long as the Reader.
    [[nodiscard]] const float* at(std::uint32_t row) const noexcept { return column_.at(row); }
    // As VectorColumn::cosines. The query may be what at() gave.
    void cosines(std::span<const float> query, std::span<const std::uint32_t> rows,
                 std::span<double> cosines) const;

   private:
    std::shared_lock<ForkSafeSharedMutex> lock_;
    const VectorColumn& column_;
  };

 private:
  static constexpr std::size_t kRowsOfBlock = 512;
  static constexpr std::size_t kWordsOfBlock = kRowsOfBlock / 64;
  struct Block {
    std::array<std::atomic<std::uint64_t>, kWordsOfBlock> has_vector{};
    std::array<std::atomic<std::uint64_t>, kWordsOfBlock> has_code{};
    AddressRange memory;
    std::unique_ptr<VectorCodes> codes;  // read only where a bit of has_code is set
    std::size_t count = 0;
    std::size_t open_rows = 0;                  // those before it are, or were once, written
    std::atomic<std::size_t> missed_codes = 0;  // rows scored without one since the last encoding
    std::atomic_flag is_encoding;               // by a reader

    [[nodiscard]] float* values() const noexcept { return static_cast<float*>(memory.data()); }
  };
  using BlockPlace = std::atomic<Block*>;
  class Scan;

  void read(const SnapshotReader& snapshot, std::span<const std::uint32_t> numbers,
            std::span<const std::uint64_t> bits, std::size_t threads);

  [[nodiscard]] std::size_t row_bytes() const noexcept { return width_ * sizeof(float); }
  [[nodiscard]] BlockPlace* places() const noexcept {
    return static_cast<BlockPlace*>(table_.data());
  }
  [[nodiscard]] Block* block_of(std::size_t number) const noexcept;
  [[nodiscard]] const float* at(std::uint32_t row) const noexcept;
  [[nodiscard]] std::uint64_t chosen_of(std::size_t number, std::size_t word,
                                        const VectorRows& chosen) const noexcept;
  void score(const float* query, std::span<const std::uint32_t> rows,
             std::span<double> cosines) const;
  bool encode_if_due(Block& block, std::size_t missed) const;
  void drop_code(Block& block, std::size_t place) noexcept;
  void open(std::span<const std::uint32_t> rows);
  void put(std::uint32_t row, const float* vector) noexcept;
  bool take(std::uint32_t row) noexcept;
  void release_empty(std::span<const std::uint32_t> rows) noexcept;

  [[nodiscard]] std::shared_lock<ForkSafeSharedMutex> shared() const;
  [[nodiscard]] std::unique_lock<ForkSafeSharedMutex> alone() const;

  const std::size_t dimension_;
  const std::size_t width_;
  // The last is taken first, by whoever writes; the second on the way to the first, so that readers
  // that follow each other without a gap keep no writer out; the first by readers, and alone by who
  // replaces or removes.
  mutable ForkSafeSharedMutex readers_;
  mutable ForkSafeSharedMutex gate_;
  ForkSafeSharedMutex writers_;
  AddressRange table_;
  std::atomic<std::size_t> block_end_{0};
  std::atomic<std::size_t> count_{0};
  mutable std::atomic<std::size_t> resident_bytes_{0};
};

class VectorColumn::Image {
 public:
  // The column must stay alive.
  explicit Image(const VectorColumn& column);
  [[nodiscard]] std::vector<SnapshotSection> sections() const;

 private:
  std::vector<std::uint32_t> numbers_;  // the components of a vector, then the blocks there are
  std::vector<std::uint64_t> bits_;     // of each block
  std::vector<std::span<const std::byte>> values_;  // of each block
};

}  // namespace oneiros
