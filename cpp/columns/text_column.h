// The normalised texts of memories, one row per memory, for rules that compare candidates' texts.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

namespace oneiros {

// The normalised text and tags of a memory. Views.
struct MemoryText {
  std::string_view text;
  std::string_view tags;  // one per line
};

// Texts by row, copied into blocks of memory that do not move. A row may have none.
//
// Thread safety: all methods may run concurrently. Adding texts to rows without one neither waits
// for a Reader nor blocks it; replacing and erasing wait until no Reader exists, and overwrite the
// old text with zeros, so that deleted content does not stay in memory.
class TextColumn {
 public:
  TextColumn();

  static constexpr std::size_t kMostRows = std::size_t{1} << 28;

  // Sets the text of each row; if a row is repeated, the last one wins. Throws
  // std::invalid_argument for a wrong length, a row >= kMostRows or a text of 4 GiB, and
  // std::bad_alloc; nothing has changed then.
  void write(std::span<const std::uint32_t> rows, std::span<const MemoryText> texts);

  // Removes the texts of rows; rows without one are ignored.
  void erase(std::span<const std::uint32_t> rows);

  // The number of rows with a text.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  // Memory in use, including spare room.
  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return resident_bytes_.load(std::memory_order_relaxed);
  }

  // A shared lock: texts stay in place while it exists.
  class Reader {
   public:
    explicit Reader(const TextColumn& column) : lock_(column.shared()), column_(column) {}
    // Prefetches the texts of rows for at() calls that follow.
    void prefetch(std::span<const std::uint32_t> rows) const noexcept;
    // The text of a row; empty if it has none or does not exist. Valid as long as the Reader.
    [[nodiscard]] MemoryText at(std::uint32_t row) const noexcept;

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const TextColumn& column_;
  };

 private:
  static constexpr std::size_t kRowsOfBlock = std::size_t{1} << 14;
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  using Place = std::atomic<char*>;  // two sizes, the text, the tags; null: none
  using Block = std::array<Place, kRowsOfBlock>;
  using Blocks = std::array<std::atomic<Block*>, kMostRows / kRowsOfBlock>;

  // The place of a row's text; null if its block does not exist.
  [[nodiscard]] Place* place_of(std::uint32_t row) const noexcept;
  // Allocates the blocks of the rows. May throw; existing texts are unaffected.
  void open(std::span<const std::uint32_t> rows);
  // Memory for a text, from the last piece or a new one.
  [[nodiscard]] char* take(std::size_t bytes);
  // Overwrites a text with zeros and counts its bytes as wiped.
  void wipe(char* kept) noexcept;
  void count_resident() noexcept;
  // Moves all texts to new memory if more is wiped than in use.
  void pack();

  // Lock readers_ shared or exclusively, through gate_.
  [[nodiscard]] std::shared_lock<std::shared_mutex> shared() const;
  [[nodiscard]] std::unique_lock<std::shared_mutex> alone() const;

  // Lock order. writers_: every writer. gate_: held while waiting for readers_, so that a
  // continuous stream of Readers cannot starve a writer. readers_: shared by Readers, exclusive for
  // replacing and erasing.
  std::mutex writers_;
  mutable std::mutex gate_;
  mutable std::shared_mutex readers_;
  std::unique_ptr<Blocks> blocks_;
  std::vector<std::unique_ptr<Block>> owned_blocks_;
  std::vector<std::unique_ptr<char[]>> pieces_;
  std::span<char> rest_;  // free room in the last piece
  std::size_t piece_bytes_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t wiped_bytes_ = 0;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> resident_bytes_{0};
};

}  // namespace oneiros
