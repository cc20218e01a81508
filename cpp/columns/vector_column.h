// Vectors (float32), one row per memory: exact cosines and exact nearest rows.
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

// Bits of rows, bit r % 8 of byte r / 8 for row r; rows beyond the last byte are not included.
using RowBits = std::span<const std::uint8_t>;

[[nodiscard]] constexpr bool has_bit(RowBits bits, std::size_t place) noexcept {
  return place / 8 < bits.size() && ((bits[place / 8] >> (place % 8)) & 1U) != 0;
}

// The rows a search may return: those in `allowed` (none: all) that are not in `minus`.
struct VectorRows {
  std::optional<RowBits> allowed = {};
  RowBits minus = {};
};

// Vectors of one width by row, in blocks of memory that do not move. A row may have none; a zero
// vector stands for none. With vectors of unit length, inner products are cosines; other lengths
// are accepted, and the products are called cosines all the same. A product has the same bits
// wherever it is computed (vector_loops.h). Components should be finite: a NaN product reads as "no
// vector".
//
// Thread safety: all methods may run concurrently. Adding vectors to rows without one neither waits
// for readers nor blocks them. Replacing and removing wait for the current readers, for at most the
// scoring of a few thousand rows. A search sees each row as it was before or after a write, never
// half of it. Survives a fork: the child continues with the parent's rows.
class VectorColumn {
 public:
  // Throws std::invalid_argument if dimension is 0, std::bad_alloc if the system refuses addresses.
  explicit VectorColumn(std::size_t dimension);
  ~VectorColumn();
  VectorColumn(const VectorColumn&) = delete;
  VectorColumn& operator=(const VectorColumn&) = delete;

  // The number of components of every vector.
  [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
  // The number of rows with a vector.
  [[nodiscard]] std::size_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }
  // The memory of vectors and codes, without spare room.
  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return resident_bytes_.load(std::memory_order_relaxed);
  }

  // Sets the vector of rows[i] to vectors[i * dimension() ...]; a zero vector removes the row's
  // vector. If a row is repeated, the last one wins. Returns how many of the given vectors are not
  // zero. Throws std::invalid_argument for a wrong length, std::bad_alloc; nothing has changed
  // then.
  std::size_t write(std::span<const std::uint32_t> rows, std::span<const float> vectors);

  // Removes and overwrites the vectors of rows; rows without one are ignored. Returns the number
  // removed.
  std::size_t remove(std::span<const std::uint32_t> rows);

  [[nodiscard]] bool has(std::uint32_t row) const noexcept;
  // The chosen rows that have a vector, ascending; and their number.
  [[nodiscard]] std::vector<std::uint32_t> rows(const VectorRows& chosen = {}) const;
  [[nodiscard]] std::size_t count(const VectorRows& chosen) const;

  // Copies the vectors of rows; zeros for a row without one. REQUIRES: vectors.size() ==
  // rows.size() * dimension().
  void reconstruct(std::span<const std::uint32_t> rows, std::span<float> vectors) const;

  // The cosine of each row with the query, NaN for a row without a vector. Throws
  // std::invalid_argument for a query of a different size. REQUIRES: cosines.size() == rows.size().
  void cosines(std::span<const float> query, std::span<const std::uint32_t> rows,
               std::span<double> cosines) const;

  // The k rows nearest to the query among those chosen and those `listed`: higher cosine first,
  // then the smaller row; fewer only if no more have a vector. One pass over these rows, over their
  // codes where there are many. Calls pause_here(). Throws std::invalid_argument for a query of a
  // different size. REQUIRES: no row is listed twice, or both chosen and listed.
  [[nodiscard]] std::vector<lexical::Hit> nearest(std::span<const float> query, std::size_t k,
                                                  const VectorRows& chosen = {},
                                                  std::span<const std::uint32_t> listed = {}) const;

  // nearest() for each query, on at most `threads` threads; several queries share a pass. Throws
  // std::invalid_argument unless the components are a multiple of dimension(), and for 0 threads.
  [[nodiscard]] std::vector<std::vector<lexical::Hit>> nearest_many(std::span<const float> queries,
                                                                    std::size_t k,
                                                                    const VectorRows& chosen,
                                                                    std::size_t threads) const;

  // Image: the snapshot sections of the vectors, to be written while it lives and no vector
  // changes. restored(): maps them, copy-on-write, verifying checksums with `threads` threads.
  // Throws SnapshotDamaged if they differ from what was written, or a vector is of a row from
  // `row_end` on, which makes no searches of a damaged file long.
  class Image;
  [[nodiscard]] static std::shared_ptr<VectorColumn> restored(const SnapshotReader& snapshot,
                                                              std::size_t row_end,
                                                              std::size_t threads);

  // A shared lock: vectors stay in place while it exists. A thread that has a Reader must use the
  // column only through it, or it may deadlock with a waiting writer.
  class Reader {
   public:
    explicit Reader(const VectorColumn& column) : lock_(column.shared()), column_(column) {}
    // The components of a row's vector, followed by zeros up to padded_width(); null if it has
    // none. Valid as long as the Reader.
    [[nodiscard]] const float* at(std::uint32_t row) const noexcept { return column_.at(row); }
    // As VectorColumn::cosines. The query may be a result of at().
    void cosines(std::span<const float> query, std::span<const std::uint32_t> rows,
                 std::span<double> cosines) const;

   private:
    std::shared_lock<ForkSafeSharedMutex> lock_;
    const VectorColumn& column_;
  };

 private:
  static constexpr std::size_t kRowsOfBlock = 512;
  static constexpr std::size_t kWordsOfBlock = kRowsOfBlock / 64;
  // The vectors of kRowsOfBlock consecutive rows, with a bit per row that has one.
  struct Block {
    std::array<std::atomic<std::uint64_t>, kWordsOfBlock> has_vector{};
    std::array<std::atomic<std::uint64_t>, kWordsOfBlock> has_code{};
    AddressRange memory;
    std::unique_ptr<VectorCodes> codes;  // valid where has_code is set
    std::size_t count = 0;
    std::size_t open_rows = 0;  // rows below it have been written at some time
    std::atomic<std::size_t> missed_codes =
        0;                         // rows scored without a code since the last encoding
    std::atomic_flag is_encoding;  // set by the reader that encodes

    [[nodiscard]] float* values() const noexcept { return static_cast<float*>(memory.data()); }
  };
  using BlockPlace = std::atomic<Block*>;
  class Scan;
  class CodedScan;

  // Maps the blocks of a snapshot into an empty column.
  void read(const SnapshotReader& snapshot, std::span<const std::uint32_t> numbers,
            std::span<const std::uint64_t> bits, std::size_t threads);

  [[nodiscard]] std::size_t row_bytes() const noexcept { return width_ * sizeof(float); }
  [[nodiscard]] BlockPlace* places() const noexcept {
    return static_cast<BlockPlace*>(table_.data());
  }
  // Null if the block does not exist.
  [[nodiscard]] Block* block_of(std::size_t number) const noexcept;
  // The vector of a row, null if it has none. REQUIRES: the caller is a reader or the writer.
  [[nodiscard]] const float* at(std::uint32_t row) const noexcept;
  // 64 bits of the chosen rows of a block that have a vector.
  [[nodiscard]] std::uint64_t chosen_of(std::size_t number, std::size_t word,
                                        const VectorRows& chosen) const noexcept;
  [[nodiscard]] bool has_rows(const VectorRows& chosen, std::size_t fewest) const;
  void score(const float* query, std::span<const std::uint32_t> rows,
             std::span<double> cosines) const;
  [[nodiscard]] const ScalarQuantizer& quantizer_of(std::span<const float* const> rows) const;
  bool encode_if_due(Block& block, std::size_t missed, const ScalarQuantizer& quantizer) const;
  void drop_code(Block& block, std::size_t place) noexcept;
  // Allocates the blocks of the rows. May throw; existing vectors are unaffected.
  void open(std::span<const std::uint32_t> rows);
  void put(std::uint32_t row, const float* vector) noexcept;
  bool take(std::uint32_t row) noexcept;
  void release_empty(std::span<const std::uint32_t> rows) noexcept;

  // Lock readers_ shared or exclusively, through gate_.
  [[nodiscard]] std::shared_lock<ForkSafeSharedMutex> shared() const;
  [[nodiscard]] std::unique_lock<ForkSafeSharedMutex> alone() const;

  const std::size_t dimension_;
  const std::size_t width_;
  mutable SlabPool code_memory_;  // whose lock is the last to be taken
  // Lock order: writers_, gate_, readers_. writers_: every writer. gate_: held while waiting for
  // readers_, so that a continuous stream of readers cannot starve a writer. readers_: shared by
  // readers, exclusive for replacing and removing. Declared in reverse, as ForkSafeSharedMutex
  // requires.
  mutable ForkSafeSharedMutex readers_;
  mutable ForkSafeSharedMutex gate_;
  ForkSafeSharedMutex writers_;
  AddressRange table_;
  std::atomic<std::size_t> block_end_{0};
  std::atomic<std::size_t> count_{0};
  mutable std::atomic<std::size_t> resident_bytes_{0};
  mutable std::atomic<const ScalarQuantizer*> quantizer_{nullptr};  // owned; null: no codes
};

// The vectors as snapshot sections.
class VectorColumn::Image {
 public:
  // Refers to the column, which must outlive it.
  explicit Image(const VectorColumn& column);
  [[nodiscard]] std::vector<SnapshotSection> sections() const;

 private:
  std::vector<std::uint32_t> numbers_;              // the dimension, then the numbers of the blocks
  std::vector<std::uint64_t> bits_;                 // by block: which rows have a vector
  std::vector<std::span<const std::byte>> values_;  // by block
};

}  // namespace oneiros
