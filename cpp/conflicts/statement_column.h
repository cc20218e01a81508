// The statements of memories by row, for the stage of a search that puts the newer of two first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "columns/text_column.h"
#include "conflicts/statement.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros::conflicts {

// Statements by row, read from texts when these are written. A row has none if its text cannot take
// part in a conflict. Those of a snapshot stay in the mapped file until their row changes.
//
// Thread safety: all methods may run concurrently; a reader sees a row as it was before or after a
// change. Statements hold hashes alone, but erasing overwrites those in memory with zeros.
class StatementColumn {
 public:
  explicit StatementColumn(std::shared_ptr<const StatementReader> reader);
  // Throws SnapshotDamaged if the sections do not match each other, or the checksum of the
  // statements, computed by `threads` threads, does not hold.
  StatementColumn(std::shared_ptr<const StatementReader> reader, const SnapshotReader& snapshot,
                  std::size_t threads);

  // Reads the text of each row; if a row is repeated, the last one wins. Throws
  // std::invalid_argument for a wrong length or a row >= TextColumn::kMostRows, and std::bad_alloc;
  // nothing has changed then.
  void write(std::span<const std::uint32_t> rows, std::span<const std::string_view> texts);
  // Removes the statements of rows; rows without one are ignored.
  void erase(std::span<const std::uint32_t> rows);

  // The statements of rows; one without words where a row has none.
  [[nodiscard]] std::vector<Statement> at(std::span<const std::uint32_t> rows) const;
  // What a text states that belongs to no row.
  [[nodiscard]] Statement read(std::string_view text) const { return reader_->read(text); }
  // Memory in use, including spare room and what is mapped.
  [[nodiscard]] std::size_t resident_bytes() const noexcept;

  // The sections of the rows below `row_count`. Must outlive the writing.
  class Image {
   public:
    Image(const StatementColumn& column, std::size_t row_count);
    [[nodiscard]] std::vector<SnapshotSection> sections() const;

   private:
    std::vector<char> bytes_;
    std::vector<std::uint64_t> starts_;
  };

 private:
  // A row's packed statement in the snapshot, empty if there is none or the row has changed since.
  [[nodiscard]] std::string_view saved(std::uint32_t row) const noexcept;
  // Hides what the snapshot has of a row.
  void leave_saved(std::uint32_t row) noexcept;

  std::shared_ptr<const StatementReader> reader_;
  TextColumn changed_;  // packed
  Stored<char> bytes_;
  Stored<std::uint64_t> starts_;  // and the end of the last
  // A bit for each row of the snapshot: whether it has changed since.
  std::vector<std::atomic<std::uint64_t>> is_left_;
};

}  // namespace oneiros::conflicts
