// The ids of rows, as a snapshot holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "snapshot/stored.h"

namespace oneiros {

// Ids by row and rows by id, mapped and never changed; a row may have none. Thread-safe.
class StoredIds {
 public:
  StoredIds() = default;  // of no rows

  // The sections of ids by row, an empty one for none, to be written while this lives.
  class Image {
   public:
    explicit Image(std::span<const std::string_view> ids);
    [[nodiscard]] std::vector<SnapshotSection> sections() const;

   private:
    std::vector<char> bytes_;
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> order_;
  };
  // Throws SnapshotDamaged where the sections do not fit each other and, unless the snapshot is
  // known to be our own, unless every id can be found and is that of one row.
  explicit StoredIds(const SnapshotReader& snapshot);

  [[nodiscard]] std::size_t size() const { return starts_.size() - (starts_.size() == 0 ? 0 : 1); }
  [[nodiscard]] std::size_t known_count() const { return order_.size(); }
  // REQUIRES: row < size(). Empty: none.
  [[nodiscard]] std::string_view at(std::size_t row) const {
    const std::uint64_t start = starts_[row];
    return {bytes_.data() + start, starts_[row + 1] - start};
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id) const;

 private:
  void check() const;

  Stored<char> bytes_;
  Stored<std::uint64_t> starts_;  // and the end of the last
  Stored<std::uint32_t> order_;   // rows that have an id, by it
};

}  // namespace oneiros
