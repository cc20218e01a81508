// The normalised texts of memories: one row a memory, for the rules that look into candidates'
// texts.
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

// What is kept of a memory, as the caller normalised it.
struct MemoryText {
  std::string_view text;
  std::string_view tags;  // one a line
};

// Texts by row, copied into pieces of memory that stay where they are. A row may have none.
// Thread-safe. Giving texts to rows without one neither waits for a Reader nor makes it wait;
// replacing and erasing wait until none lives, and wipe what was there.
class TextColumn {
 public:
  TextColumn();

  static constexpr std::size_t kMostRows = std::size_t{1} << 28;

  // Gives rows[i] the text texts[i]; of a row given twice the last wins. Throws
  // std::invalid_argument for another length, a row from kMostRows on or a text of 4 GiB, and
  // std::bad_alloc; nothing has changed then.
  void write(std::span<const std::uint32_t> rows, std::span<const MemoryText> texts);

  // Takes the texts of rows away; a row without one is passed over.
  void erase(std::span<const std::uint32_t> rows);

  // Rows that have a text.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  // Memory held, room for more among it.
  [[nodiscard]] std::size_t resident_bytes() const noexcept {
    return resident_bytes_.load(std::memory_order_relaxed);
  }

  // Keeps what is read in place while it lives.
  class Reader {
   public:
    explicit Reader(const TextColumn& column) : lock_(column.shared()), column_(column) {}
    // Has the texts of rows come from memory meanwhile, for at() soon after.
    void prefetch(std::span<const std::uint32_t> rows) const noexcept;
    // A row without a text, or that does not exist, has empty ones. Valid as long as the Reader.
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

  [[nodiscard]] Place* place_of(std::uint32_t row) const noexcept;
  void open(std::span<const std::uint32_t> rows);
  [[nodiscard]] char* take(std::size_t bytes);
  void wipe(char* kept) noexcept;
  void count_resident() noexcept;
  void pack();

  [[nodiscard]] std::shared_lock<std::shared_mutex> shared() const;
  [[nodiscard]] std::unique_lock<std::shared_mutex> alone() const;

  // Taken in this order: by whoever writes; on the way to the third, so that Readers that follow
  // each other without a gap keep nobody out; by Readers, and alone by who takes something away.
  std::mutex writers_;
  mutable std::mutex gate_;
  mutable std::shared_mutex readers_;
  std::unique_ptr<Blocks> blocks_;
  std::vector<std::unique_ptr<Block>> owned_blocks_;
  std::vector<std::unique_ptr<char[]>> pieces_;
  std::span<char> rest_;  // of the last piece
  std::size_t piece_bytes_ = 0;
  std::size_t live_bytes_ = 0;
  std::size_t wiped_bytes_ = 0;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> resident_bytes_{0};
};

}  // namespace oneiros
