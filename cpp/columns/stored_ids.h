// The ids of rows in a snapshot, mapped for look-ups in both directions.
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

// Ids by row and rows by id. A row may have none. Immutable and thread-safe.
class StoredIds {
 public:
  StoredIds() = default;  // no rows

  // The sections for a list of ids by row, an empty string meaning none. Must outlive the writing.
  class Image {
   public:
    explicit Image(std::span<const std::string_view> ids);
    [[nodiscard]] std::vector<SnapshotSection> sections() const;

   private:
    std::vector<char> bytes_;
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> order_;
  };
  // Throws SnapshotDamaged if the sections do not match each other and, unless the snapshot is our
  // own, if an id cannot be found or belongs to several rows.
  explicit StoredIds(const SnapshotReader& snapshot);

  [[nodiscard]] std::size_t size() const { return starts_.size() - (starts_.size() == 0 ? 0 : 1); }
  [[nodiscard]] std::size_t known_count() const { return order_.size(); }
  // The id of a row, empty if it has none. REQUIRES: row < size().
  [[nodiscard]] std::string_view at(std::size_t row) const {
    const std::uint64_t start = starts_[row];
    return {bytes_.data() + start, starts_[row + 1] - start};
  }
  // The row with this id. Binary search: O(log n) comparisons.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view id) const;

 private:
  void check() const;

  Stored<char> bytes_;
  Stored<std::uint64_t> starts_;  // and the end of the last
  Stored<std::uint32_t> order_;   // rows with an id, ordered by it
};

}  // namespace oneiros
